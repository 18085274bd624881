"""What did a trial think and do, and how is that kept on disk?"""
