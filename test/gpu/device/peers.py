"""The same computations by torch, which calls cuBLAS and cuDNN."""

import time


def functions(torch, rows, columns, side, heads):
    """Returns the computation of each measured entry, on values of its own."""
    tensors = {}

    def get(name, dtype, *shape):
        if (name, dtype) not in tensors:
            tensors[name, dtype] = torch.randn(shape, device="cuda").to(dtype)
        return tensors[name, dtype]

    x = lambda: get("x", torch.float32, rows, columns)
    found = {
        "gelu": lambda: torch.nn.functional.gelu(x()),
        "add": lambda: get("y", torch.float32, rows, columns).add_(x()),
        "softmax": lambda: torch.softmax(x(), 1),
        "layer_norm": lambda: torch.nn.functional.layer_norm(x(), (columns,), get("w", torch.float32, columns)),
        "transpose": lambda: x().t().contiguous(),
        "columns": lambda: x().sum(0),
    }
    for name, dtype in ("f32", torch.float32), ("tf32", torch.float32), ("bf16", torch.bfloat16), ("f16", torch.float16):
        def product(transposed, dtype=dtype, is_tf32=name == "tf32"):
            torch.backends.cuda.matmul.allow_tf32 = is_tf32
            a, b = get("a", dtype, side, side), get("b", dtype, side, side)
            return torch.matmul(a, b.t() if transposed else b)

        found[f"product_{name}"] = lambda product=product: product(False)
        found[f"product_transposed_{name}"] = lambda product=product: product(True)
    found["scan"] = lambda: torch.cumsum(x(), 1)
    for name, dtype in ("f32", torch.float32), ("tf32", torch.float32), ("bf16", torch.bfloat16):
        def attention(gradient, dtype=dtype, is_tf32=name == "tf32"):
            torch.backends.cuda.matmul.allow_tf32 = is_tf32
            q, k, v = (get(name, dtype, *heads).requires_grad_(gradient) for name in "qkv")
            result = torch.nn.functional.scaled_dot_product_attention(q, k, v)
            return torch.autograd.grad(result, [q, k, v], get("g", dtype, *heads)) if gradient else result

        found[f"attention_{name}"] = lambda attention=attention: attention(False)
        found[f"attention_gradient_{name}"] = lambda attention=attention: attention(True)
    return found


def seconds_of(torch, function, rounds=20, repeats=7):
    function()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(rounds):
            function()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / rounds)
    return sorted(times)[len(times) // 2]


def compare(figures):
    """Adds the speed relative to torch where it is, and returns the name of the device."""
    try:
        import torch
    except ImportError:
        return "unknown: there is no torch, so peers are not measured"
    if not torch.cuda.is_available():
        return "none that torch finds, so peers are not measured"
    for figure in figures:
        function = functions(torch, figure["rows"], figure["columns"], figure["side"], figure["heads"]).get(figure["name"])
        if function:
            seconds = seconds_of(torch, function)
            figure["peer_microseconds"] = seconds * 1e6
            figure["of_peer"] = seconds * 1e6 / figure["microseconds"]
        torch.cuda.empty_cache()
    return torch.cuda.get_device_name(0)
