import { UNFINISHED_PREFIX, unfinishedTable } from './automatic-index.ts'
import type { IndexDefinition } from './dialect.ts'

/** An index under construction, as plain data. */
export interface UnfinishedIndex extends IndexDefinition {
  /** The column of the record's id. */
  key: string
  /** The columns that the terms name, with their types; the key left out. */
  columns: [name: string, type: string][]
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`

const EVENTS = ['inserted', 'updating', 'updated', 'deleting']

/** Triggers by which an index under construction follows the changes of its table; see `src/db/sqlite-index-build.ts`. */
export const changeTriggers = (index: string): string[] =>
  EVENTS.map((event) => `${unfinishedTable(index)}_${event}`)

/** Compares the table of an index in `i` with a table that it is to become an index of, which has its triggers. */
export const isUnfinishedOf = `exists (select 1 from sqlite_schema t
  where t.type = 'trigger' and t.tbl_name = ? and t.name = i.tbl_name || '_${EVENTS[0]}')`

/** Selects the name of each index of a file that is under construction, or was when the server ended. */
export const unfinishedIndexes = `select substr(name, ${UNFINISHED_PREFIX.length + 1}) as name from sqlite_schema u
  where type = 'table' and substr(name, 1, ${UNFINISHED_PREFIX.length}) = '${UNFINISHED_PREFIX}'`

/** Selects those of them whose table is gone, and with it their triggers. */
export const abandonedIndexes = `${unfinishedIndexes}
  and not exists (select 1 from sqlite_schema t where t.type = 'trigger' and t.name = u.name || '_${EVENTS[0]}')`

/** Counts the statements of `createUnfinished` that a file's schema has, as `n`. */
export const countCreated = (statements: readonly string[]): string =>
  `select count(*) as n from sqlite_schema where sql in (${statements.map(() => '?').join(', ')})`

/**
 * The statements that create the table of an index under construction, the index and its triggers, in the form in which
 * `sqlite_schema` keeps them.
 */
export function createUnfinished(build: UnfinishedIndex): string[] {
  const { name, terms, key, columns } = build
  const copy = quote(unfinishedTable(name))
  const definitions = columns.map(([column, type]) => `, ${quote(column)} ${type}`)
  return [
    `CREATE TABLE ${copy} (${quote(key)} integer primary key${definitions.join('')})`,
    `CREATE INDEX ${quote(name)} on ${copy} (${terms.join(', ')})`,
    ...createTriggers(build),
  ]
}

/** The triggers that keep entries up to date, whether the turn of their records has come or not. */
function createTriggers({ name, table, columns }: UnfinishedIndex): string[] {
  const copy = quote(unfinishedTable(name))
  const names = columns.map(([column]) => quote(column))
  const list = ['rowid', ...names].join(', ')
  const add = (row: 'old' | 'new') =>
    `insert into ${copy} (${list}) select ${list} from ${quote(table)} where rowid = ${row}.rowid;`
  const removeRow = `delete from ${copy} where rowid = old.rowid;`
  // Deleting a row removes its entry. Where there is an entry without a row, or none, the row is added first: the same entry
  // is stored once.
  const remove = `${removeRow} ${add('old')} ${removeRow}`
  const update = columns.length > 0 ? `update of ${names.join(', ')}` : 'update'
  const bodies = {
    inserted: `after insert on ${quote(table)} begin ${add('new')} end`,
    updating: `before ${update} on ${quote(table)} begin ${remove} end`,
    updated: `after ${update} on ${quote(table)} begin ${add('new')} end`,
    deleting: `before delete on ${quote(table)} begin ${remove} end`,
  }
  return changeTriggers(name).map(
    (trigger, at) => `CREATE TRIGGER ${quote(trigger)} ${Object.values(bodies)[at]}`,
  )
}

/** The statement that adds entries of records, whose ids are bound as a list in JSON. */
export function addRecords({ name, table, columns }: UnfinishedIndex): string {
  const list = columns.map(([column]) => quote(column))
  return `insert into ${quote(unfinishedTable(name))} (${['rowid', ...list].join(', ')})
    select ${['t.rowid', ...list.map((column) => `t.${column}`)].join(', ')}
    from json_each(?) as e cross join ${quote(table)} as t on t.rowid = e.value`
}
