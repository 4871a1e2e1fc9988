import { resolveZone } from '../../../../src/core/dates.ts'
import { storageOf } from '../../../../src/core/fields/field.ts'
import {
  type CheckedFormula,
  checkFormula,
  compileFormula,
  formulaField,
  sizeOfFormula,
} from '../../../../src/core/formula/index.ts'
import type { TableModel } from '../../../schema/index.ts'
import { columnIn, perModel } from '../../table/index.ts'
import { type Expression, spend } from './scope.ts'

/** A formula that has been read, for one version of its table. */
interface ReadFormula {
  expression: Checked['expression']
  /** How large its SQL is, its fields taken for columns. */
  words: number
  /** True where it looks at the clock. */
  isFleeting: boolean
}

type Checked = Extract<CheckedFormula, { ok: true }>

/** A formula over its record's fields: their expressions stand where it names them. */
export const formulaExpression: Expression = (field, scope) => {
  const { model, dialect, moment, spent } = scope
  const formula = formulasOf(model)(dialect.client, String(field.options.formula ?? ''))
  if (!formula) return null
  spend(scope, formula.words)
  if (formula.isFleeting) spent.isFleeting = true
  return compileFormula(formula.expression, {
    words: dialect.formula,
    column(fieldId) {
      const named = model.field(fieldId)
      if (!named)
        throw new Error(`Formula ${field.id} names the field ${fieldId}, which its check did not find`)
      const value = scope.of(named, scope, 'cell')
      const storage = storageOf(named)
      // By themselves, engines print the fraction of a time of day in different ways.
      return storage === 'time' && named.databaseType !== null
        ? dialect.related.text({ value, storage })
        : value
    },
    recordId: columnIn(scope, model.primaryKey),
    // Not read for other formulas: plans that have not read the moment are kept.
    now: formula.isFleeting ? moment.now.getTime() : 0,
    zone: resolveZone(moment.timeZone ?? 'UTC'),
    prefix: `f${++spent.aliases}_`,
  })
}

/** The formulas of a table by engine and text, each read once; null for one that has a problem. */
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
  return { expression, words: sizeOfFormula(expression).words, isFleeting: looksAtClock(expression) }
}

function looksAtClock(expression: Checked['expression']): boolean {
  if (expression.kind === 'convert') return looksAtClock(expression.from)
  if (expression.kind !== 'call') return false
  return expression.name === 'NOW' || expression.args.some(looksAtClock)
}
