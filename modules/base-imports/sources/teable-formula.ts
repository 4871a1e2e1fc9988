import { AIRTABLE_FUNCTIONS } from './airtable-formula.ts'
import { type CallWriter, type FormulaDialect, same } from './formula-translator.ts'

/** A field that formulas read, in the terms of its values there. */
export interface TeableFormulaField {
  id: string
  name: string
  values: 'text' | 'number' | 'fraction' | 'truth' | 'date'
  isLookup: boolean
}

/** Teable's functions have the names and meanings of Airtable's, except for these. */
const OWN_FUNCTIONS: Record<string, CallWriter> = {
  ARRAY_JOIN: same('ARRAYJOIN'),
  ARRAY_UNIQUE: same('ARRAYUNIQUE'),
  ARRAY_FLATTEN: same('ARRAYFLATTEN'),
  ARRAY_COMPACT: same('ARRAYCOMPACT'),
  DATE_ADD: AIRTABLE_FUNCTIONS.DATEADD!,
  IS_ERROR: same('ISERROR'),
  REGEXP_REPLACE: same('REGEX_REPLACE'),
  TEXT_ALL: same('CONCAT'),
}

/** Functions that give texts, which `+` joins. */
const TEXT_FUNCTIONS = new Set([
  'CONCATENATE',
  'MID',
  'LEFT',
  'RIGHT',
  'REPLACE',
  'REGEXP_REPLACE',
  'SUBSTITUTE',
  'LOWER',
  'UPPER',
  'REPT',
  'TRIM',
  'T',
  'ENCODE_URL_COMPONENT',
  'DATESTR',
  'TIMESTR',
  'DATETIME_FORMAT',
  'ARRAY_JOIN',
  'TEXT_ALL',
])

/** Formulas of a table of Teable, which name fields by id: `{fldX} * 2`. Percentages are fractions. */
export function teableDialect(fields: readonly TeableFormulaField[]): FormulaDialect {
  const byId = new Map(fields.map((field) => [field.id, field]))
  const byTitle = new Map(fields.map((field) => [field.name, field]))
  return {
    fieldNamed: (name) => (byId.get(name) ?? byTitle.get(name))?.id,
    writeField(fieldId, reference) {
      const { values, isLookup } = byId.get(fieldId)!
      const isNumber = values === 'number' || values === 'fraction'
      const value = isLookup && isNumber ? `VALUE(${reference})` : reference
      return values === 'fraction' ? `(${value} / 100)` : value
    },
    isTruth: (fieldId) => byId.get(fieldId)?.values === 'truth',
    isText: (fieldId) => byId.get(fieldId)?.values === 'text',
    textFunctions: TEXT_FUNCTIONS,
    calls: { ...AIRTABLE_FUNCTIONS, ...OWN_FUNCTIONS },
    clockFunctions: new Set(['NOW', 'TODAY', 'FROMNOW', 'TONOW']),
  }
}
