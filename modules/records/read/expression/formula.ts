import { resolveZone } from '../../../../src/core/dates.ts'
import { storageOf } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import {
  type CheckedFormula,
  checkFormula,
  compileFormula,
  formulaField,
  readsClock,
  sizeOfFormula,
} from '../../../../src/core/formula/index.ts'
import type { TableModel } from '../../../schema/index.ts'
import { columnIn, perModel } from '../../table/index.ts'
import { addSize, type Expression } from './scope.ts'

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
  const formula = formulasOf(model)(dialect.client, String(field.options.formula ?? ''))
  if (!formula) return null
  addSize(scope, formula.size)
  if (formula.dependsOnNow) state.dependsOnNow = true
  const systemColumn = (name: string) => {
    const named = model.fields.find((other) => fieldType(other.type).systemColumn === name)
    return named ? scope.of(named, scope, 'cell') : null
  }
  return compileFormula(formula.expression, {
    words: dialect.formula,
    column(fieldId) {
      const named = model.field(fieldId)
      if (!named)
        throw new Error(`Formula ${field.id} names the field ${fieldId}, which its check did not find`)
      // Where only the number of linked records counts, their names are not read.
      const form = formulaField(named).form === 'linkTitles' ? 'formula' : 'cell'
      const value = scope.of(named, scope, form)
      const storage = storageOf(named)
      // Engines print the fraction of a time of day in different ways.
      return storage === 'time' && named.databaseType !== null
        ? dialect.related.text({ value, storage })
        : value
    },
    recordId: columnIn(scope, model.primaryKey),
    createdTime: systemColumn('created_at'),
    modifiedTime: systemColumn('updated_at'),
    // Not read for other formulas, so that their plans can be cached.
    now: formula.dependsOnNow ? moment.now.getTime() : 0,
    zone: resolveZone(moment.timeZone ?? 'UTC'),
    prefix: `f${++state.aliases}_`,
  })
}

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
