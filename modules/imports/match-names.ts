import type { Actor } from '../../src/core/actor.ts'
import { notFound } from '../../src/core/errors.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { readNameList } from '../../src/core/fields/list-value.ts'
import { countNamed, isLikelyLink, namesOf } from '../../src/core/imports/likely-link.ts'
import type { MatchedTable } from '../../src/core/imports/propose-links.ts'
import type { Table } from '../../src/core/model.ts'
import type { ColumnValue } from '../../src/db/column-values.ts'
import { namesInZone, readNames, recordsNamed, requireStoredNames } from '../../src/db/names-of-records.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import { isForeign, type RecordsService } from '../records/index.ts'
import type { SchemaReader } from '../schema/index.ts'
import type { MatchTablesInput, MissingNamesInput } from './input.ts'
import { toImportLink } from './plan.ts'
import { toNamedRecords } from './targets/connected-import.ts'

/* What the columns of a file name, before its import. */

interface Deps {
  kernel: Pick<Kernel, 'sources'>
  auth: Pick<AuthService, 'access'>
  schema: Pick<SchemaReader, 'load' | 'tables'>
  records: Pick<RecordsService, 'people' | 'openLink'>
}

/**
 * Checks before an import which cells of a link column name a missing record, or several for a link to one.
 * Returns their indexes.
 */
export function createMissingNames({
  auth,
  schema,
  records,
}: Pick<Deps, 'auth' | 'records'> & { schema: Pick<SchemaReader, 'load' | 'engineOf'> }) {
  /**
   * @throws TABLE_NOT_FOUND, FIELD_NOT_FOUND; PERMISSION_DENIED below editor; BAD_REQUEST unless it is a link
   */
  return async function missingNames(
    actor: Actor,
    { baseId, tableId, fieldId, texts, timeZone }: MissingNamesInput,
  ): Promise<{ missing: number[] }> {
    await auth.access.authorize(actor, 'import.append', baseId)
    const model = await schema.load(tableId)
    if (model.table.baseId !== baseId) throw notFound('Table', tableId)
    const open = await records.openLink(model, fieldId)
    const people = await records.people(actor, baseId)
    const { kind } = open.options
    const related = isForeign(model)
      ? toNamedRecords(open, people, timeZone)
      : toImportLink(open, people, timeZone).related
    requireStoredNames(related)
    const engine = await schema.engineOf(open.related.table)
    const names = texts.flatMap((text) => [text, ...readNameList(text)])
    const known = await recordsNamed(engine, related, names, (statement) =>
      engine.all<ColumnValue>(statement, { scan: true }),
    )
    const missing = texts.flatMap((text, at) => {
      const named = readNames(text, { kind }, known)
      return named.missing.length > 0 ? [at] : []
    })
    return { missing }
  }
}

/** Tables whose records are looked at, and the time for it, in milliseconds. */
const MAX_TABLES = 30
const MAX_MS = 3000

/** Finds the existing tables whose records the columns of a file name, for the links that an import proposes. */
export function createTableMatcher({ kernel, auth, schema }: Omit<Deps, 'records'>) {
  /**
   * All tables of the base that can be linked to, those first that are called like a column. Tables beyond the time or number
   * that may be looked at have no matches.
   * @throws BASE_NOT_FOUND; PERMISSION_DENIED below creator
   */
  return async function matchTables(
    actor: Actor,
    { baseId, columns, timeZone = 'UTC' }: MatchTablesInput,
  ): Promise<MatchedTable[]> {
    await auth.access.authorize(actor, 'import.create', baseId)
    await auth.access.authorize(actor, 'record.list', baseId)
    const tables = inOrderOfTitles(await schema.tables(actor, baseId), columns)
    const started = performance.now()
    const engine = await kernel.sources.engine(baseId)
    const wanted = columns.map(({ values }) => values.filter((value) => value.trim() !== ''))
    const names = wanted.flat().flatMap((value) => [value, ...namesOf(value)])
    const matched: MatchedTable[] = []
    for (const { id, title } of tables) {
      const model = await schema.load(id)
      const isOwn = model.primaryKey.databaseType === null && !model.table.isJunction
      if (!isOwn || fieldType(model.displayField.type).computed) continue
      const table: MatchedTable = { tableId: id, title, columns: [] }
      matched.push(table)
      if (matched.length > MAX_TABLES || performance.now() - started > MAX_MS || names.length === 0) continue
      const known = await recordsNamed(engine, namesInZone(model, timeZone), names, (statement) =>
        engine.all<ColumnValue>(statement, { scan: true }),
      )
      const isName = (text: string) => known.find(text) !== undefined
      for (const [column, values] of wanted.entries()) {
        const [count, found] = [values.length, countNamed(values, isName)]
        const isNumeric = values.every((value) => /^[\d.,\s]*$/.test(value))
        const evidence = { column: columns[column]?.title ?? '', table: title, count, found, isNumeric }
        if (found === 0) continue
        table.columns.push({
          column,
          count,
          found,
          isLikely: isLikelyLink({ ...evidence, isComplete: true }),
        })
      }
    }
    return matched
  }
}

/** The tables, those first that are called like a column. */
function inOrderOfTitles(tables: readonly Table[], columns: MatchTablesInput['columns']): Table[] {
  const isNamed = ({ title }: Table) =>
    columns.some(({ title: column }) =>
      isLikelyLink({ column, table: title, count: 1, found: 1, isComplete: false, isNumeric: true }),
    )
  return [...tables.filter(isNamed), ...tables.filter((table) => !isNamed(table))]
}
