"""How are trials isolated on a Linux machine without a container engine?"""
