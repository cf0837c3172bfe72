"""The program ``instar``, also ``kubectl instar``: one module per command, one line each in ``main.COMMANDS``."""
