"""The launcher's flags, as Paddle 3 has them. Environment variables override flags, as there."""

from __future__ import annotations

import argparse
import os


def strtobool(text: str | bool | int) -> bool:
    word = str(text).strip().lower()
    if word in ("y", "yes", "t", "true", "on", "1"):
        return True
    if word in ("n", "no", "f", "false", "off", "0"):
        return False
    raise argparse.ArgumentTypeError(f"expected true or false, got {text!r}")


# Variable -> (flag, type).
ENVIRONMENT = {
    "POD_IP": ("host", str),
    "PADDLE_MASTER": ("master", str),
    "PADDLE_DEVICES": ("devices", str),
    "PADDLE_NNODES": ("nnodes", str),
    "PADDLE_RUN_MODE": ("run_mode", str),
    "PADDLE_LOG_LEVEL": ("log_level", str),
    "PADDLE_LOG_OVERWRITE": ("log_overwrite", strtobool),
    "PADDLE_SORT_IP": ("sort_ip", strtobool),
    "PADDLE_NPROC_PER_NODE": ("nproc_per_node", int),
    "PADDLE_JOB_ID": ("job_id", str),
    "PADDLE_RANK": ("rank", int),
    "PADDLE_TRAINER_ID": ("rank", int),
    "PADDLE_LOG_DIR": ("log_dir", str),
    "PADDLE_MAX_RESTART": ("max_restart", int),
    "PADDLE_ELASTIC_LEVEL": ("elastic_level", int),
    "PADDLE_ELASTIC_TIMEOUT": ("elastic_timeout", int),
    "PADDLE_START_PORT": ("start_port", int),
    "PADDLE_IPS": ("ips", str),
    "PADDLE_AUTO_PARALLEL_CONFIG": ("auto_parallel_config", str),
    "PADDLE_AUTO_CLUSTER": ("auto_cluster_config", strtobool),
    "PADDLE_SERVER_NUM": ("server_num", int),
    "PADDLE_TRAINER_NUM": ("trainer_num", int),
    "PADDLE_SERVERS_ENDPOINTS": ("servers", str),
    "PADDLE_TRAINERS_ENDPOINTS": ("trainers", str),
    "PADDLE_GLOO_PORT": ("gloo_port", int),
    "PADDLE_WITH_GLOO": ("with_gloo", str),
}


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m paddle.distributed.launch", description="Start the ranks of a distributed job."
    )
    base = p.add_argument_group("job")
    add = base.add_argument
    add("--master", help="where the launchers of all nodes meet, ip:port; needed for more than one node")
    add("--rank", type=int, default=-1, help="number of this node; default: in order of arrival at the master")
    add("--nnodes", default="1", help="number of nodes, or min:max")
    add("--nproc_per_node", type=int, help="ranks on this node; default: one for each device")
    add(
        "--devices", "--gpus", "--npus", "--xpus", help='devices to use, such as "0,1"; without such devices: CPU ranks'
    )
    add("--log_dir", default="log", help="folder of workerlog.<rank>; default: log")
    add("--log_level", default="INFO", help="of the launcher: DEBUG, INFO, WARNING or ERROR")
    add("--log_overwrite", type=strtobool, default=False, help="overwrite logs instead of appending; default: False")
    add("--run_mode", help="collective or rpc; default: collective")
    add("--job_id", default="default", help="tells jobs apart that share a master")
    add("--host", help="address of this node, as the others can reach it")
    add("--ips", help="addresses of all nodes; then no master is needed, ports count from start_port")
    add("--start_port", type=int, default=6070, help="first port with --ips; default: 6070")
    add("--sort_ip", type=strtobool, default=False, help="number the nodes by address")
    add("--enable_gpu_log", type=strtobool, default=True, help=argparse.SUPPRESS)
    add("--legacy", type=strtobool, default=False, help=argparse.SUPPRESS)
    add("--auto_parallel_config", help="passed on to the ranks")
    add("--auto_cluster_config", type=strtobool, default=False, help="passed on to the ranks")
    add("--auto_tuner_json", help=argparse.SUPPRESS)
    elastic = p.add_argument_group("restart")
    elastic.add_argument("--max_restart", type=int, default=3, help="restarts at elastic_level 1; default: 3")
    elastic.add_argument("--elastic_level", type=int, default=-1, help="1: start failed ranks of a node anew")
    elastic.add_argument("--elastic_timeout", type=int, default=30, help="seconds to wait for more than min nodes")
    server = p.add_argument_group("parameter server (not offered)")
    server.add_argument("--servers", default="", help=argparse.SUPPRESS)
    server.add_argument("--trainers", default="", help=argparse.SUPPRESS)
    server.add_argument("--trainer_num", type=int, help=argparse.SUPPRESS)
    server.add_argument("--server_num", type=int, help=argparse.SUPPRESS)
    server.add_argument("--gloo_port", type=int, default=6767, help=argparse.SUPPRESS)
    server.add_argument("--with_gloo", default="1", help=argparse.SUPPRESS)
    add("training_script", help="a Python file, or any program")
    add("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return p


def parse(argv: list[str] | None = None, environ=os.environ) -> argparse.Namespace:
    """Flags with the environment's overrides. ``overridden`` lists (variable, flag) for a warning.

    Raises SystemExit (2) with a message for flags that are wrong, unknown or not offered.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    args.overridden = []
    for variable, (name, kind) in ENVIRONMENT.items():
        if variable not in environ:
            continue
        try:
            value = kind(environ[variable])
        except (ValueError, argparse.ArgumentTypeError) as error:
            parser.error(f"the variable {variable} is wrong: {error}")
        if value != getattr(args, name):
            args.overridden.append((variable, name))
        setattr(args, name, value)
    _verify(parser, args)
    return args


def _verify(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    ps = args.servers or args.trainers or args.server_num or args.trainer_num
    args.run_mode = args.run_mode or ("ps" if ps else "collective")
    if args.run_mode not in ("collective", "rpc"):
        parser.error(f"run_mode {args.run_mode} is not offered; there are collective and rpc")
    if args.auto_tuner_json:
        parser.error("--auto_tuner_json is not offered")
    low, _, high = str(args.nnodes).partition(":")
    try:
        args.min_nodes, args.max_nodes = int(low), int(high or low)
    except ValueError:
        parser.error(f"expected --nnodes as a number or min:max, got {args.nnodes}")
    if not 1 <= args.min_nodes <= args.max_nodes:
        parser.error(f"expected 1 <= min <= max in --nnodes, got {args.nnodes}")
    if args.nproc_per_node is not None and args.nproc_per_node < 1:
        parser.error(f"expected --nproc_per_node of 1 or more, got {args.nproc_per_node}")
    if args.rank >= args.max_nodes and not args.ips:
        parser.error(f"expected --rank below the number of nodes ({args.max_nodes}), got {args.rank}")
    if args.master and "etcd" not in args.master and not args.master.rpartition(":")[2].isdigit():
        parser.error(f"expected --master as ip:port, got {args.master}")
    if args.master and "etcd" in args.master:
        parser.error("a master in etcd is not offered; give ip:port")
