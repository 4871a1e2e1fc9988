import type { SQL } from 'drizzle-orm'
import { resolveZone } from '../../../../src/core/dates.ts'
import { isComputed, storageOf } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { isSecret } from '../../../../src/core/fields/traits.ts'
import {
  type CheckedFormula,
  checkFormula,
  compileFormula,
  type FormulaCompileContext,
  formulaField,
  inlinedWords,
  readsClock,
  sizeOfFormula,
  storedReferences,
} from '../../../../src/core/formula/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { UnindexedReason } from '../../../../src/core/performance.ts'
import type { QueryDialect } from '../../../../src/dialects/dialect.ts'
import { NotIndexedError } from '../../../../src/dialects/indexed-formula.ts'
import type { TableModel } from '../../../schema/index.ts'
import { columnIn, columnName, isForeign, perModel } from '../../table/index.ts'
import { addSize, type Expression, type Scope, storedIn } from './scope.ts'

/** A parsed formula, for one version of its table. */
interface ReadFormula {
  expression: Checked['expression']
  /** The size of its SQL, counting each field as a column. */
  size: number
  /** True if its value changes with time. */
  dependsOnNow: boolean
}

type Checked = Extract<CheckedFormula, { ok: true }>

/** A formula over the fields of its record, whose expressions are inserted for the field names. */
export const formulaExpression: Expression = (field, scope) => {
  const { model, dialect, moment, state } = scope
  const formula = readFormulaOf(field, scope)
  if (!formula) return null
  addSize(scope, formula.size)
  // Only for an index: without subqueries, what a formula uses twice is computed twice.
  if (scope.indexed.has(field.id) && unindexedFormula(model, dialect, field) === null)
    return inlined(field, scope, resolveZone(moment.timeZone ?? 'UTC'))
  if (formula.dependsOnNow) state.dependsOnNow = true
  return compileFormula(formula.expression, {
    words: dialect.formula,
    column(fieldId) {
      const named = getNamed(field, fieldId, model)
      // Where only the number of linked records counts, their names are not read.
      const form = formulaField(named).form === 'linkTitles' ? 'formula' : 'cell'
      const value = scope.of(named, scope, form)
      const storage = storageOf(named)
      // Engines print the fraction of a time of day in different ways.
      return storage === 'time' && named.databaseType !== null
        ? dialect.related.text({ value, storage })
        : value
    },
    ...systemColumns(scope),
    // Not read for other formulas, so that their plans can be cached.
    now: formula.dependsOnNow ? moment.now.getTime() : 0,
    zone: resolveZone(moment.timeZone ?? 'UTC'),
    prefix: `f${++state.aliases}_`,
  })
}

/**
 * Why no index can hold the values of a formula; null if one can. Once one does, its SQL is the same in every statement, as
 * far as the record's alias allows: an engine uses an index of exactly this expression only.
 */
export function unindexedFormula(
  model: TableModel,
  dialect: QueryDialect,
  field: Field,
): UnindexedReason | null {
  const known = unindexedOf(model)
  const key = `${dialect.client} ${field.id} ${String(field.options.formula ?? '')}`
  const found = known.get(key)
  if (found !== undefined) return found
  const reason = findReason(model, dialect, field)
  known.set(key, reason)
  return reason
}

/** The stored fields that a formula is computed from, also through other formulas. */
export function storedOperands(model: TableModel, field: Field): Field[] {
  const named = namedFields(model, field)
  const found = named.flatMap((each) => (isComputed(each) ? storedOperands(model, each) : [each]))
  return [...new Set(found)]
}

const unindexedOf = perModel((_model: TableModel) => new Map<string, UnindexedReason | null>())

/** From this size on, repeating what a subquery would compute once costs more than an index is worth. */
const MAX_INLINED_WORDS = 600

/** From this size on, with subqueries, a formula is not looked at any closer: every change of a table does so again. */
const MAX_MEASURED_WORDS = 5_000

/** UTC, and a zone whose clocks change, to see whether the SQL depends on the zone. */
const ZONES = ['UTC', 'America/New_York']

function findReason(model: TableModel, dialect: QueryDialect, field: Field): UnindexedReason | null {
  const scope = { model, dialect, alias: model.table.tableName }
  const formula = readFormulaOf(field, scope)
  if (!formula || isForeign(model) || !dialect.indexedFormula) return 'expression'
  if (formula.dependsOnNow) return 'time'
  const read = namedFields(model, field)
  // SQLite takes a text alone for the name of a column.
  if (read.length === 0) return 'expression'
  for (const named of read) {
    const isOwn = isComputed(named)
      ? fieldType(named.type).computed === 'formula' && named.error === null
      : !isSecret(named) && columnName(named) !== '' && storageOf(named) !== 'json'
    if (!isOwn) return 'otherRecords'
    const reason = isComputed(named) ? unindexedFormula(model, dialect, named) : null
    if (reason !== null) return reason
  }
  if (formula.size > MAX_MEASURED_WORDS) return 'length'
  const [words, others] = ZONES.map((zone) => wordsOf(model, dialect, field, zone))
  if (words !== others) return 'zone'
  if (words! > MAX_INLINED_WORDS) return 'length'
  try {
    const [own, other] = ZONES.map((zone) => dialect.render(inlined(field, scope, zone)))
    if (own?.params.length !== 0) return 'expression'
    if (own.sql !== other?.sql) return 'zone'
    const prefix = `${dialect.quote(scope.alias)}.`
    return dialect.fitIndex?.([own.sql.replaceAll(prefix, '')]) === false ? 'length' : null
  } catch (error) {
    if (error instanceof NotIndexedError) return 'expression'
    throw error
  }
}

/** Words of a formula's SQL without subqueries. */
function wordsOf(model: TableModel, dialect: QueryDialect, field: Field, zone: string): number {
  const formula = readFormulaOf(field, { model, dialect })
  if (!formula) return 1
  return inlinedWords(formula.expression, zone, (fieldId) => {
    const named = getNamed(field, fieldId, model)
    return isComputed(named) ? wordsOf(model, dialect, named, zone) : 1
  })
}

/** A formula without subqueries and bound values, with the formulas that it reads. */
function inlined(
  field: Field,
  scope: Pick<Scope, 'model' | 'dialect' | 'alias'>,
  zone: string,
  isOperand = false,
): SQL {
  const { model, dialect } = scope
  const formula = readFormulaOf(field, scope)
  if (!formula || !dialect.indexedFormula) throw new NotIndexedError()
  const { expression } = formula
  // An operand is limited as a cell, to less than a result.
  const isLimitedTwice = isOperand && expression.kind === 'convert' && expression.to === 'limit'
  return compileFormula(isLimitedTwice ? expression.from : expression, {
    words: dialect.indexedFormula,
    column(fieldId) {
      const named = getNamed(field, fieldId, model)
      return isComputed(named) ? inlined(named, scope, zone, true) : storedIn(scope, named)
    },
    ...systemColumns(scope),
    now: 0,
    zone,
  })
}

function systemColumns(
  scope: Pick<Scope, 'model' | 'dialect' | 'alias'>,
): Pick<FormulaCompileContext<SQL>, 'recordId' | 'createdTime' | 'modifiedTime'> {
  const { model } = scope
  const systemColumn = (name: string) => {
    const named = model.fields.find((other) => fieldType(other.type).systemColumn === name)
    return named ? storedIn(scope, named) : null
  }
  return {
    recordId: columnIn(scope, model.primaryKey),
    createdTime: systemColumn('created_at'),
    modifiedTime: systemColumn('updated_at'),
  }
}

/** The fields that a formula names. */
const namedFields = (model: TableModel, field: Field): Field[] =>
  storedReferences(String(field.options.formula ?? '')).flatMap((id) => model.field(id) ?? [])

function getNamed(field: Field, fieldId: string, model: TableModel): Field {
  const named = model.field(fieldId)
  if (!named) throw new Error(`Formula ${field.id} names the field ${fieldId}, which its check did not find`)
  return named
}

const readFormulaOf = (
  field: Field,
  { model, dialect }: Pick<Scope, 'model' | 'dialect'>,
): ReadFormula | null => formulasOf(model)(dialect.client, String(field.options.formula ?? ''))

/** Parsed formulas of a table by engine and text; null for one with a problem. */
const formulasOf = perModel((model: TableModel) => {
  const fields = model.fields.map(formulaField)
  const known = new Map<string, ReadFormula | null>()
  return (client: string, text: string): ReadFormula | null => {
    const key = `${client} ${text}`
    const found = known.get(key)
    if (found !== undefined) return found
    const checked = checkFormula(text, { fields, client })
    const read = checked.ok ? readFormula(checked) : null
    known.set(key, read)
    return read
  }
})

function readFormula({ expression }: Checked): ReadFormula {
  return { expression, size: sizeOfFormula(expression).words, dependsOnNow: readsClock(expression) }
}
