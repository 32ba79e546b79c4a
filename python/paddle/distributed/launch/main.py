"""The launcher itself: from flags to the exit code."""

from __future__ import annotations

import logging
import os
import random
import signal
import string
import sys

from . import args as flags
from . import environ, rendezvous, scheduler, workers

_MEET_TIMEOUT = 600.0  # seconds; PADDLE_LAUNCH_TIMEOUT changes it


def _logger(level: str) -> logging.Logger:
    logger = logging.getLogger("LAUNCH")
    logger.propagate = False
    logger.setLevel(level.upper())
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(asctime)s %(message)s"))
        logger.addHandler(handler)
    return logger


class Launcher:
    """One launcher: one node of the job, or under MPI and Slurm one of their processes."""

    def __init__(self, args):
        self.args = args
        self.log = _logger(args.log_level)
        self.scheduled = None if args.ips or args.rank >= 0 or args.max_nodes > 1 else scheduler.detect()
        self.gpus: list[str] = []
        self.signal = 0
        self.group: workers.Group | None = None

    def run(self) -> int:
        """Runs the job; returns its exit code: 0, that of the rank that failed, or the signal that ended it."""
        for variable, name in self.args.overridden:
            self.log.warning("%s is taken from the variable %s: %s", name, variable, getattr(self.args, name))
        if self.scheduled:
            self._follow_scheduler()
        replicas = self._replicas()
        try:
            cluster = self._cluster(replicas)
        except (rendezvous.RendezvousError, ValueError) as error:
            self.log.error("%s", error)
            return 1
        self._prepare(cluster, replicas)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGABRT):
            signal.signal(number, self._on_signal)
        code = self._attempts(cluster)
        cluster.leave(code == 0)
        self.log.info("Exit code %d", code)
        return code

    def _follow_scheduler(self) -> None:
        s, args = self.scheduled, self.args
        args.rank, args.min_nodes, args.max_nodes = s.rank, s.size, s.size
        args.nnodes = str(s.size)
        args.nproc_per_node = args.nproc_per_node or 1
        args.job_id = s.job if args.job_id == "default" else args.job_id
        if not args.master and s.master_host:
            args.master = f"{s.master_host}:{s.master_port}"
        self.log.info("%s started this as process %d of %d", s.name, s.rank, s.size)

    def _replicas(self) -> int:
        """How many ranks this launcher starts, and on which devices."""
        visible = environ.visible_gpus()
        wanted = [d.strip() for d in self.args.devices.split(",") if d.strip()] if self.args.devices else []
        replicas = self.args.nproc_per_node or len(wanted) or len(visible) or 1
        if wanted and not visible:
            self.log.warning(
                "no GPU found: --devices %s starts %d CPU rank%s", self.args.devices, replicas, "s" * (replicas > 1)
            )
        elif visible:
            self._choose_gpus(visible, wanted, replicas)
        return replicas

    def _choose_gpus(self, visible: list[str], wanted: list[str], replicas: int) -> None:
        unknown = [d for d in wanted if d not in visible]
        if unknown:
            self.log.error("no device %s here; there are %s", ", ".join(unknown), ", ".join(visible))
            raise SystemExit(1)
        chosen = [str(visible.index(d)) for d in wanted or visible]  # numbered among the visible ones
        if replicas > 1 and replicas > len(chosen):
            self.log.error("%d ranks on this node, but only %d devices", replicas, len(chosen))
            raise SystemExit(1)
        self.gpus = chosen

    def _cluster(self, replicas: int) -> rendezvous.Cluster:
        args = self.args
        if args.ips:
            return self._from_ips(replicas)
        several = args.max_nodes > 1
        if several and not args.master:
            raise ValueError("more than one node needs --master ip:port (that of node 0) on every node")
        target = args.master.rpartition(":")[0] if args.master else None
        host = args.host or (rendezvous.own_address(target) if several else "127.0.0.1")
        port, *rest = rendezvous.free_ports(replicas + 1)
        info = {
            "job": args.job_id,
            "rank": args.rank,
            "host": host,
            "candidate": f"{host}:{port}",
            "endpoints": [f"{host}:{p}" for p in rest],
        }
        if not several:
            if args.master:  # one node: the ranks themselves may as well meet there
                info["candidate"] = args.master
            return rendezvous.Cluster([info], 0)
        timeout = float(os.environ.get("PADDLE_LAUNCH_TIMEOUT", _MEET_TIMEOUT))
        self.log.info("Waiting for %s nodes at %s", args.nnodes, args.master)
        return rendezvous.meet(args, info, timeout)

    def _from_ips(self, replicas: int) -> rendezvous.Cluster:
        ips = [ip.strip() for ip in self.args.ips.split(",")]
        host = self.args.host or (ips[0] if len(ips) == 1 else rendezvous.own_address(ips[0]))
        if host not in ips and self.args.rank < 0:
            raise ValueError(f"this node's address {host} is not among --ips {self.args.ips}; give --host or --rank")
        nodes = []
        for rank, ip in enumerate(ips):
            endpoints = [f"{ip}:{self.args.start_port + i}" for i in range(replicas)]
            nodes.append({"rank": rank, "host": ip, "candidate": endpoints[0], "endpoints": endpoints})
        for node in nodes:
            node["candidate"] = nodes[0]["endpoints"][0]
        return rendezvous.Cluster(nodes, ips.index(host) if host in ips else self.args.rank)

    def _prepare(self, cluster: rendezvous.Cluster, replicas: int) -> None:
        args, s = self.args, self.scheduled
        offset = s.local_rank * replicas if s else 0
        local_size = s.local_size * replicas if s else replicas
        threads = str(environ.threads_per_rank(local_size))
        base = {**os.environ, "POD_NAME": "".join(random.choices(string.ascii_lowercase, k=6))}
        base.setdefault("OMP_NUM_THREADS", threads)
        argv = workers.command(args.training_script, args.training_script_args)
        ranks = []
        for i, own in enumerate(environ.of_ranks(args, cluster, offset, local_size, self.gpus)):
            worker = workers.Worker(
                int(own["PADDLE_GLOBAL_RANK"]), offset + i, argv, {**base, **own}, args.log_dir, args.log_overwrite
            )
            ranks.append(worker)
            self._save_environment(own, offset + i)
        self.group = workers.Group(ranks)
        where = (
            f"devices {','.join(self.gpus[:replicas])}" if self.gpus else f"CPU, {base['OMP_NUM_THREADS']} threads each"
        )
        self.log.info(
            "Job %s: ranks %d to %d of %s here (%s), logs in %s",
            args.job_id,
            ranks[0].rank,
            ranks[-1].rank,
            ranks[0].env["PADDLE_GLOBAL_SIZE"],
            where,
            os.path.join(args.log_dir, "workerlog.*") if args.log_dir else "the terminal",
        )

    def _save_environment(self, own: dict[str, str], number: int) -> None:
        """envlog.<rank>: what the launcher set. Not the whole environment, which may hold secrets."""
        if self.args.log_dir:
            os.makedirs(self.args.log_dir, exist_ok=True)
            with open(os.path.join(self.args.log_dir, f"envlog.{number}"), "w", encoding="utf-8") as f:
                f.writelines(f"{key}={value}\n" for key, value in sorted(own.items()))

    def _attempts(self, cluster: rendezvous.Cluster) -> int:
        restarts = self.args.max_restart if self.args.elastic_level >= 1 and len(cluster.nodes) == 1 else 0
        for attempt in range(restarts + 1):
            failed = self._attempt(cluster)
            if self.signal:
                return self.signal
            if cluster.stopped.is_set():
                self.log.error("Stopped: %s", cluster.reason)
                return 1
            if failed is None:
                return 0
            self._report(failed)
            if attempt < restarts:
                self.log.info("Restart %d of %d", attempt + 1, restarts)
        return failed.code if failed.code > 0 else 128 - failed.code

    def _attempt(self, cluster: rendezvous.Cluster) -> workers.Worker | None:
        try:
            self.group.start()
        except OSError as error:
            self.log.error("can't start %s: %s", self.args.training_script, error)
            self.group.stop()
            raise SystemExit(127) from None
        failed = self.group.watch(lambda: self.signal or cluster.stopped.is_set())
        if failed or cluster.stopped.is_set():
            self.group.stop()
        elif self.signal:
            self.group.stop(self.signal, grace=30.0)
        return failed

    def _report(self, worker: workers.Worker) -> None:
        self.log.error("Rank %d %s; the job ends. Its log: %s", worker.rank, worker.describe_end(), worker.path)
        if worker is not self.group.workers[0]:  # whose output was shown as it came
            sys.stdout.write(worker.tail())
            sys.stdout.flush()

    def _on_signal(self, number, _frame) -> None:
        if self.signal:  # the second time: at once
            self.group.stop(signal.SIGKILL)
            os._exit(number)
        self.signal = number
        self.log.info("Signal %s is passed on to the ranks", signal.Signals(number).name)


def launch() -> None:
    """Entry of ``python -m paddle.distributed.launch``; exits with the job's code."""
    sys.exit(Launcher(flags.parse()).run())
