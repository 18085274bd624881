"""How does a trial run in a container of an engine such as Docker's or Podman's?"""
