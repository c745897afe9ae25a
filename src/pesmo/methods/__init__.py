"""One file per method behind one small protocol (protocol.py), and what methods share: model, design, maximization."""
