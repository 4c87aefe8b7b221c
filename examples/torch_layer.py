"""The projection as a PyTorch layer in front of a small network.

python examples/torch_layer.py
"""

import torch
from torch import nn

from freeproj import FreeProjection
from freeproj.adapters.torch import FreeProjectionLayer


def main() -> None:
    torch.set_num_threads(1)  # the network is small: threads would only wait
    torch.manual_seed(0)
    layer = FreeProjectionLayer(4, FreeProjection.with_words(256, length=4), seed=0)
    model = nn.Sequential(layer, nn.Linear(128, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    print(model)

    for step in range(200):
        layer.resample()  # another word: the network must not rely on one of them
        x = torch.randn(64, 4)
        loss = nn.functional.mse_loss(model(x).squeeze(1), x.norm(dim=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            print(f"step {step + 1}: squared error {loss.item():.3f}")

    x = torch.randn(5, 4)
    each = layer(x, layer.sample_words(5))
    print(
        "a word for each row keeps norms, times √2:", each.norm(dim=1) / x.norm(dim=1)
    )


if __name__ == "__main__":
    main()
