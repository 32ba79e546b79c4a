"""How the launchers of several nodes find each other, and hear of each other's end.

One launcher, the one that can listen on the master's address, serves. Each sends lines of JSON: first who it is, at the
end whether its ranks did well. The server answers with the list of all nodes, and with ``stop`` when a node failed.
"""

from __future__ import annotations

import json
import socket
import threading
import time


class RendezvousError(RuntimeError):
    """A node did not come, or the master can't be reached."""


def own_address(towards: str | None = None) -> str:
    """This machine's address on the way to a host, as others can reach it."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect((towards or "8.8.8.8", 9))  # sends nothing
            return s.getsockname()[0]
    except OSError:
        try:
            return socket.gethostbyname(socket.gethostname())
        except OSError:
            return "127.0.0.1"


def free_ports(count: int, host: str = "") -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in range(count)]
    try:
        for s in sockets:
            s.bind((host, 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


class _Node:
    def __init__(self, connection: socket.socket, info: dict):
        self.connection, self.info, self.done = connection, info, False

    def send(self, message: dict) -> None:
        try:
            self.connection.sendall((json.dumps(message) + "\n").encode())
        except OSError:
            pass  # its reader notices


class Server:
    """Waits for min to max nodes and keeps them informed of each other."""

    def __init__(self, listener: socket.socket, args):
        self._listener, self._args = listener, args
        self._nodes: list[_Node] = []
        self._changed = threading.Condition()
        self._complete = self._failed = False
        self._enough_since: float | None = None
        threading.Thread(target=self._accept, daemon=True).start()
        threading.Thread(target=self._wait_for_more, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        node = None
        try:
            lines = connection.makefile("r", encoding="utf-8")
            info = json.loads(lines.readline() or "null")
            if not isinstance(info, dict) or info.get("job") != self._args.job_id:
                connection.close()
                return
            node = _Node(connection, info)
            if not self._join(node):
                return
            last = json.loads(lines.readline() or "null")  # comes when the node ends; nothing if it is lost
            self._end(node, "" if last and last.get("ok") else "failed" if last else "was lost")
        except (OSError, ValueError):
            if node:
                self._end(node, "was lost")

    def _join(self, node: _Node) -> bool:
        with self._changed:
            taken = {n.info["rank"] for n in self._nodes if n.info["rank"] >= 0}
            refused = None
            if self._complete:
                refused = "the job has all its nodes already"
            elif node.info["rank"] in taken:
                refused = f"node {node.info['rank']} is there already"
            if refused:
                node.done = True
                node.send({"refused": refused})
                return False
            self._nodes.append(node)
            if len(self._nodes) >= self._args.min_nodes and self._enough_since is None:
                self._enough_since = time.monotonic()
            if len(self._nodes) == self._args.max_nodes:
                self._publish()
        return True

    def _wait_for_more(self) -> None:
        """With min:max nodes: goes on without the rest after elastic_timeout."""
        while not self._complete:
            time.sleep(0.1)
            with self._changed:
                since = self._enough_since
                if since is not None and not self._complete and time.monotonic() - since > self._args.elastic_timeout:
                    self._publish()

    def _publish(self) -> None:
        """Numbers the nodes: those that chose a rank get it, the others what is left, as they came or by address."""
        self._complete = True
        free = [n for n in self._nodes if n.info["rank"] < 0]
        if self._args.sort_ip:
            free.sort(
                key=lambda n: (
                    socket.inet_aton(n.info["host"]) if n.info["host"][0].isdigit() else n.info["host"].encode()
                )
            )
        taken = {n.info["rank"] for n in self._nodes}
        numbers = (i for i in range(len(self._nodes) + self._args.max_nodes) if i not in taken)
        for node in free:
            node.info["rank"] = next(numbers)
        self._nodes.sort(key=lambda n: n.info["rank"])
        everyone = [n.info for n in self._nodes]
        for index, node in enumerate(self._nodes):
            node.send({"nodes": everyone, "index": index})

    def _end(self, node: _Node, trouble: str) -> None:
        """A node is through; the first that is in trouble stops all others."""
        with self._changed:
            if trouble and not node.done and not self._failed:
                self._failed = True
                for other in self._nodes:
                    if other is not node:
                        other.send({"stop": f"node {node.info['rank']} ({node.info['host']}) {trouble}"})
            node.done = True
            self._changed.notify_all()

    def here(self) -> list[dict]:
        with self._changed:
            return [dict(n.info) for n in self._nodes]

    def linger(self, seconds: float) -> None:
        """Stays until all nodes have said how they ended (after a failure: at most ``seconds``)."""
        with self._changed:
            while not all(n.done for n in self._nodes):
                if self._failed and seconds <= 0:
                    break
                self._changed.wait(0.2)
                seconds -= 0.2
        self._listener.close()


class Cluster:
    """This node among all. ``stopped`` is set, with the reason, once another node fails."""

    def __init__(
        self, nodes: list[dict], index: int, connection: socket.socket | None = None, server: Server | None = None
    ):
        self.nodes, self.index = nodes, index
        self.stopped = threading.Event()
        self.reason = ""
        self._connection, self._server, self._over = connection, server, False
        if connection:
            threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            line = _read_line(self._connection, None)
            self.reason = json.loads(line)["stop"] if line else "the master was lost"
        except (OSError, ValueError):
            self.reason = "the master was lost"
        if not self._over:
            self.stopped.set()

    def leave(self, ok: bool) -> None:
        """Tells the others how this node ended; the serving node waits for theirs."""
        if self._connection:
            self._over = True
            try:
                self._connection.sendall((json.dumps({"ok": ok}) + "\n").encode())
            except OSError:
                pass
        if self._server:
            self._server.linger(10.0)


def _read_line(connection: socket.socket, deadline: float | None) -> str:
    data = b""
    while not data.endswith(b"\n"):
        if deadline is not None:
            connection.settimeout(max(0.01, deadline - time.monotonic()))
        byte = connection.recv(1)
        if not byte:
            return ""
        data += byte
    connection.settimeout(None)
    return data.decode()


def _try_to_serve(host: str, port: int, args) -> Server | None:
    """Listens if the master's address is this machine's and no other launcher does."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)
        return Server(listener, args)
    except OSError:
        listener.close()
        return None


def meet(args, info: dict, timeout: float) -> Cluster:
    """Joins the job at ``args.master`` and returns when all nodes are there.

    Raises RendezvousError that says which nodes are missing, or that nobody answers there.
    """
    host, _, port = args.master.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    # Node 0 serves; without numbers, whoever comes first on the master's machine does.
    server = _try_to_serve(host, int(port), args) if args.rank <= 0 else None
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection = socket.create_connection((host, int(port)), timeout=5)
            break
        except OSError as error:
            if time.monotonic() > deadline:
                raise RendezvousError(
                    f"no master at {args.master} within {timeout:g} s ({error}); is node 0 running?"
                ) from None
            time.sleep(0.2)
    try:
        connection.sendall((json.dumps(info) + "\n").encode())
        line = _read_line(connection, deadline)
    except TimeoutError:
        raise RendezvousError(_who_is_missing(args, server, timeout)) from None
    except OSError as error:
        raise RendezvousError(f"the master at {args.master} was lost: {error}") from None
    answer = json.loads(line) if line else {"refused": "another job, or another program, is there"}
    if "refused" in answer:
        raise RendezvousError(f"the master at {args.master} refuses: {answer['refused']}")
    if "stop" in answer:
        raise RendezvousError(answer["stop"])
    return Cluster(answer["nodes"], answer["index"], connection, server)


def _who_is_missing(args, server: Server | None, timeout: float) -> str:
    if not server:
        return f"not all of {args.min_nodes} nodes came within {timeout:g} s; the master at {args.master} knows which"
    here = server.here()
    text = f"{len(here)} of {args.min_nodes} nodes came within {timeout:g} s"
    ranks = {n["rank"] for n in here}
    if -1 not in ranks:
        missing = [str(r) for r in range(args.min_nodes) if r not in ranks]
        return f"{text}; missing: node {', '.join(missing)}"
    return f"{text}: {', '.join(n['host'] for n in here)}"
