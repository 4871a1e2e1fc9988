import { UNFINISHED_PREFIX, unfinishedTable } from './automatic-index.ts'

const EVENTS = ['inserted', 'updating', 'updated', 'deleting']

/** Triggers by which an index under construction follows the changes of its table; see `src/db/sqlite-index-build.ts`. */
export const changeTriggers = (index: string): string[] =>
  EVENTS.map((event) => `${unfinishedTable(index)}_${event}`)

/** Compares the table of an index in `i` with a table that it is to become an index of, which has its triggers. */
export const isUnfinishedOf = `exists (select 1 from sqlite_schema t
  where t.type = 'trigger' and t.tbl_name = ? and t.name = i.tbl_name || '_${EVENTS[0]}')`

/** Selects the name of each index of a file that is under construction, or was when the server was killed. */
export const unfinishedIndexes = `select substr(name, ${UNFINISHED_PREFIX.length + 1}) as name from sqlite_schema
  where type = 'table' and substr(name, 1, ${UNFINISHED_PREFIX.length}) = '${UNFINISHED_PREFIX}'`
