"""What the modules that users name are built on."""
