"""paddle.io, paddle.save and paddle.load."""

SET = """class Squares(paddle.io.Dataset):
    def __init__(self, n):
        self.n = n

    def __getitem__(self, i):
        return np.float32(i * i), i

    def __len__(self):
        return self.n


"""


def with_set(*programs):
    """Cases that begin with a data set."""
    return [SET + p for p in programs]


CASES = {
    "paddle.io": ["public(paddle.io)", "list(paddle.io.SequenceSampler(range(3)))", "sorted(paddle.io.RandomSampler(range(5)))", "len(paddle.io.WeightedRandomSampler([0.1, 0.9], 6))", "[len(s) for s in paddle.io.random_split(range(10), [3, 7])]", "list(paddle.io.Subset([5, 6, 7], [2, 0]))", "paddle.io.get_worker_info()",
        "paddle.io.TensorDataset([R([3, 2]), T([0, 1, 2])])[1]", "list(paddle.io.ChainDataset([[1, 2], [3]]))", "sorted(paddle.io.SubsetRandomSampler([3, 5]))", "[len(s) for s in paddle.io.random_split(range(10), [0.5, 0.5])]"],
    "paddle.io.Dataset": with_set("len(Squares(3)), Squares(3)[2]", "paddle.io.Dataset()[0]", "len(paddle.io.Dataset())", "c = paddle.io.ConcatDataset([Squares(2), Squares(3)])\n[len(c), c[3], c[-1]]", "paddle.io.ComposeDataset([Squares(3), Squares(3)])[2]", "class Stream(paddle.io.IterableDataset):\n    def __iter__(self):\n        return iter(range(5))\n[b for b in paddle.io.DataLoader(Stream(), batch_size=2)]",
        "paddle.io.IterableDataset()[0]", "len(paddle.io.IterableDataset())"),
    "paddle.io.BatchSampler": with_set("b = paddle.io.BatchSampler(Squares(5), batch_size=2)\n[len(b), list(b)]", "b = paddle.io.BatchSampler(Squares(5), batch_size=2, drop_last=True)\n[len(b), list(b)]", "list(paddle.io.BatchSampler(sampler=paddle.io.SequenceSampler(range(3)), batch_size=2))", "b = paddle.io.BatchSampler(Squares(5), shuffle=True, batch_size=2)\nsorted(i for x in b for i in x)",
        "paddle.io.BatchSampler()", "paddle.io.BatchSampler(Squares(5), batch_size=0)", "paddle.io.BatchSampler(Squares(3), sampler=paddle.io.SequenceSampler(range(3)))", "paddle.io.BatchSampler(Squares(3), drop_last=3)", "signature(paddle.io.BatchSampler)", "paddle.io.BatchSampler(3)"),
    "paddle.io.DistributedBatchSampler": with_set("b = paddle.io.DistributedBatchSampler(Squares(7), 2, num_replicas=2, rank=0)\n[len(b), list(b)]", "b = paddle.io.DistributedBatchSampler(Squares(7), 2, num_replicas=2, rank=1)\n[len(b), list(b)]", "list(paddle.io.DistributedBatchSampler(Squares(7), 2, 2, 1, drop_last=True))", "b = paddle.io.DistributedBatchSampler(Squares(6), 2, 2, 0, shuffle=True)\nb.set_epoch(1)\nlen(list(b))",
        "paddle.io.DistributedBatchSampler(Squares(6), 0)", "signature(paddle.io.DistributedBatchSampler)", "list(paddle.io.DistributedBatchSampler(Squares(3), 2))", "b = paddle.io.DistributedBatchSampler(Squares(8), 2, 2, 0, shuffle=True)\nb.set_epoch(3)\na = list(b)\nb.set_epoch(3)\na == list(b)"),
    "paddle.io.DataLoader": with_set("list(paddle.io.DataLoader(Squares(5), batch_size=2))", "list(paddle.io.DataLoader(Squares(5), batch_size=2, drop_last=True))", "len(paddle.io.DataLoader(Squares(5), batch_size=2))", "list(paddle.io.DataLoader(Squares(4), batch_size=2, num_workers=2))", "list(paddle.io.DataLoader(Squares(4), batch_sampler=paddle.io.BatchSampler(Squares(4), batch_size=3)))",
        "sorted(int(v) for b in paddle.io.DataLoader(Squares(6), batch_size=2, shuffle=True) for v in b[1])", "seen = []\nlist(paddle.io.DataLoader(Squares(2), num_workers=1, worker_init_fn=lambda i: None))", "paddle.io.DataLoader(Squares(4), batch_size=0)", "paddle.io.DataLoader([1, 2, 3])", "paddle.io.DataLoader(Squares(4), num_workers=-1)", "signature(paddle.io.DataLoader)",
        "class D(paddle.io.Dataset):\n    def __getitem__(self, i):\n        return {'x': np.ones(2, 'float64') * i, 'n': [i, 'a']}\n    def __len__(self):\n        return 2\nlist(paddle.io.DataLoader(D(), batch_size=2))", "class D(paddle.io.Dataset):\n    def __getitem__(self, i):\n        return R([2]) * i, T(i), True, 1.5, b'a'\n    def __len__(self):\n        return 2\nlist(paddle.io.DataLoader(D(), batch_size=2))",
        "paddle.io.DataLoader(Squares(4), batch_size=2, batch_sampler=paddle.io.BatchSampler(Squares(4)))", "paddle.io.DataLoader(Squares(3), return_list=True, places=paddle.CPUPlace(), use_shared_memory=False, timeout=0).batch_sampler.batch_size"),
    "paddle.save": ["folder()\npaddle.save(nn.Linear(2, 3).state_dict(), 'm.pdparams')\nsorted(__import__('os').listdir('.'))", "folder()\npaddle.save({'a': T([1.0]), 'b': [1, 'x']}, 'd/e/f.pdparams')\n__import__('os').path.exists('d/e/f.pdparams')", "folder()\npaddle.save(T([1.0]), '')", "folder()\npaddle.save(T([1.0]), 'a/')", "folder()\npaddle.save(T([1.0]), 'x', protocol=1)", "folder()\npaddle.save(T([1.0]), 'x', protocol='a')", "folder()\npaddle.save(nn.Linear(1, 1), 'x')", "signature(paddle.save)",
        "folder()\npaddle.save({'w': T([1.0, 2.0]), 'k': 3}, 'x')\n{k: type(v).__name__ for k, v in __import__('pickle').load(open('x', 'rb')).items()}", "folder()\nb = __import__('io').BytesIO()\npaddle.save({'w': T([1.0])}, b)\nb.tell() > 10"],
    "paddle.load": ["folder()\npaddle.save({'a': T([1.0, 2.0]), 'b': [1, 'x', T([3])]}, 'x')\npaddle.load('x')", "folder()\npaddle.save({'a': T([1.0, 2.0])}, 'x')\npaddle.load('x', return_numpy=True)", "folder()\npaddle.save(T([1.0, 2.0], 'bfloat16'), 'x')\npaddle.load('x')", "folder()\npaddle.load('missing')", "folder()\npaddle.save((T([1]), np.ones(2)), 'x')\npaddle.load(path='x')", "folder()\nn = fixed(nn.Linear(2, 3))\npaddle.save(n.state_dict(), 'x')\n[type(paddle.load('x')).__name__, list(paddle.load('x').values())]",
        "b = __import__('io').BytesIO()\npaddle.save({'w': T([1.0])}, b)\nb.seek(0)\npaddle.load(b)", "folder()\no = paddle.optimizer.Adam(0.1, parameters=[parameter([1.0], 'w')])\npaddle.save(o.state_dict(), 'o.pdopt')\npaddle.load('o.pdopt')", "folder()\nopen('x', 'w').write('not a pickle')\npaddle.load('x')", "folder()\npaddle.save(parameter([1.0, 2.0], 'p'), 'x')\n[paddle.load('x'), type(paddle.load('x')).__name__]", "signature(paddle.load)", "folder()\npaddle.save(5, 'x')\npaddle.load('x')"],
}  # fmt: skip

DIFFERS = {
    "official takes an argument without sense here: we refuse it": {
        "paddle.io": ["paddle.io.WeightedRandomSampler([0.1, -0.9], 6)"],
    },
    "official's loader ends at once where a batch is no array": {
        "paddle.io.DataLoader": with_set("list(paddle.io.DataLoader(Squares(2), batch_size=None))", "list(paddle.io.DataLoader(Squares(4), batch_size=2, collate_fn=lambda b: [len(b)]))"),
    },
}  # fmt: skip
