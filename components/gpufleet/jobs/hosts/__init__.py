"""Jobs on on-prem servers without a scheduler: mpirun over ssh, with files that all of them share."""
