"""Errors whose text is meant for the user: one line (or one for each fault), never a traceback."""

from gpufleet_rehearsal.engine import EngineError
from gpufleet_rehearsal.faults import FaultError
from gpufleet_rehearsal.home import HomeError
from gpufleet_rehearsal.opening import NoRehearsal
from gpufleet_rehearsal.refusing import CloudError
from gpufleet_rehearsal.settings import SettingsError
from gpufleet_rehearsal.store import StoreError
from gpufleet_rehearsal.table import TableError

FOR_THE_USER = (CloudError, EngineError, FaultError, HomeError, NoRehearsal, SettingsError, StoreError, TableError)
