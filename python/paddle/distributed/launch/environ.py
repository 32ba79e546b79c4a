"""The variables that each rank finds in its environment."""

from __future__ import annotations

import glob
import os

from .rendezvous import Cluster


def visible_gpus(environ=os.environ) -> list[str]:
    """Labels of the GPUs that this process may use, found without loading any driver."""
    chosen = environ.get("CUDA_VISIBLE_DEVICES")
    present = [path[len("/dev/nvidia") :] for path in sorted(glob.glob("/dev/nvidia[0-9]*"))]
    if not present:
        return []
    if chosen is None:
        return present
    return [label.strip() for label in chosen.split(",") if label.strip() not in ("", "-1", "NoDevFiles")]


def threads_per_rank(local_size: int) -> int:
    """CPU cores that this process may use, shared out among its ranks; at least one."""
    return max(1, len(os.sched_getaffinity(0)) // max(1, local_size))


def of_ranks(args, cluster: Cluster, local_offset: int, local_size: int, gpus: list[str]) -> list[dict[str, str]]:
    """One dict for each rank that this launcher starts.

    ``local_offset``: ranks that other launchers on this machine start before these; ``local_size``: all ranks of this
    machine. ``gpus``: labels for the ranks; empty: CPU ranks.
    """
    me = cluster.nodes[cluster.index]
    endpoints = [e for node in cluster.nodes for e in node["endpoints"]]
    first = sum(len(node["endpoints"]) for node in cluster.nodes[: cluster.index])
    master = cluster.nodes[0]["candidate"]
    hosts = (
        len({node["host"] for node in cluster.nodes})
        if local_offset or local_size > len(me["endpoints"])
        else len(cluster.nodes)
    )
    environments = []
    for i, endpoint in enumerate(me["endpoints"]):
        e = {
            "PADDLE_MASTER": master,
            "PADDLE_GLOBAL_SIZE": str(len(endpoints)),
            "PADDLE_LOCAL_SIZE": str(local_size),
            "PADDLE_GLOBAL_RANK": str(first + i),
            "PADDLE_LOCAL_RANK": str(local_offset + i),
            "PADDLE_NNODES": str(hosts),
            "PADDLE_CURRENT_ENDPOINT": endpoint,
            "PADDLE_TRAINER_ID": str(first + i),
            "PADDLE_TRAINERS_NUM": str(len(endpoints)),
            "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
            "PADDLE_RANK_IN_NODE": str(local_offset + i),
            "PADDLE_AUTO_CLUSTER": str(int(args.auto_cluster_config)),
            "PADDLE_JOB_ID": args.job_id,
            "PADDLE_LOG_DIR": os.path.abspath(args.log_dir) if args.log_dir else "",
        }
        if args.auto_parallel_config:
            e["PADDLE_AUTO_PARALLEL_CONFIG"] = args.auto_parallel_config
        if args.run_mode == "rpc":
            e.update(PADDLE_MASTER_ENDPOINT=master, PADDLE_WORKER_ENDPOINT=endpoint)
        if gpus:
            e["FLAGS_selected_gpus"] = ",".join(gpus) if len(me["endpoints"]) == 1 else gpus[i]
        else:
            e["PADDLE_DISTRI_BACKEND"] = "gloo"
        environments.append(e)
    return environments
