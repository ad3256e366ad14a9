"""Exports a network from PyTorch, and fine-tunes it there as tune.c does with the compiled one.

    python3 export.py ../digits/digits.csv digits.onnx losses.txt

Writes the network, trained on the digits 0 to 4 alone, and the losses of 50 further steps on all of
them, in f64. Needs torch 1.13 or later and NumPy.
"""

import sys

import numpy as np
import torch

STEPS, BATCH, RATE, DECAY = 50, 32, 0.005, 0.9


class Digits(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(8, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU())
        self.classifier = torch.nn.Linear(16 * 4 * 4, 10)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


def steps(network, images, labels, rate, decay, batches):
    """Yields the loss before each step of gradient descent with momentum."""
    optimizer = torch.optim.SGD(network.parameters(), lr=rate, momentum=decay)
    for rows in batches:
        loss = torch.nn.functional.cross_entropy(network(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def main():
    csv, model, losses = sys.argv[1:]
    table = np.loadtxt(csv, delimiter=",", skiprows=1)
    images = torch.tensor(table[:, :64].reshape(-1, 1, 8, 8) / 16)
    labels = torch.tensor(table[:, 64], dtype=torch.int64)
    torch.manual_seed(1)
    network = Digits().double()

    known = torch.nonzero(labels < 5).flatten()
    generator = torch.Generator().manual_seed(2)
    draws = (known[torch.randint(len(known), (64,), generator=generator)] for _ in range(150))
    for _ in steps(network, images, labels, 0.05, 0.9, draws):
        pass

    network.eval()  # the statistics of the normalisations stay as they are
    network.float()
    torch.onnx.export(network, torch.zeros(2, 1, 8, 8), model, input_names=["image"], output_names=["logits"],
                      dynamic_axes={"image": {0: "n"}, "logits": {0: "n"}}, opset_version=13,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)

    network.double()  # starts from the exported weights
    batches = (slice(step * BATCH % 1024, step * BATCH % 1024 + BATCH) for step in range(STEPS))
    with open(losses, "w") as file:
        for loss in steps(network, images, labels, RATE, DECAY, batches):
            file.write(f"{loss:.9f}\n")


if __name__ == "__main__":
    main()
