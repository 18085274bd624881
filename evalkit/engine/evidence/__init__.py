"""How is evidence of tampering gathered while a trial's sandbox stands?"""
