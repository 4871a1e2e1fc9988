import { type FieldTypeName, readOptions } from '../../src/core/fields/index.ts'
import type { FilterField } from '../../src/core/filters/index.ts'

const field = (id: string, title: string, type: FieldTypeName, options: object = {}): FilterField => ({
  id,
  title,
  type,
  options: readOptions(type, options),
})

const CHOICES = { choices: ['red', 'blue', 'dark red'].map((title) => ({ title })) }

/** One field of each filter set, and both kinds of dates. */
export const FIELDS: Record<string, FilterField> = {
  T: field('cT', 'T', 'SingleLineText'),
  Num: field('cNum', 'Num', 'Number'),
  Ss: field('cSs', 'Ss', 'SingleSelect', CHOICES),
  Ms: field('cMs', 'Ms', 'MultiSelect', CHOICES),
  Cb: field('cCb', 'Cb', 'Checkbox'),
  D: field('cD', 'D', 'Date'),
  Dt: field('cDt', 'Dt', 'DateTime'),
  Who: field('cWho', 'Who', 'CreatedBy'),
  'Sp ace': field('cSp', 'Sp ace', 'SingleLineText'),
  'Cost (USD)': field('cCost', 'Cost (USD)', 'Decimal'),
}

export const byTitle = (title: string): FilterField | undefined =>
  Object.hasOwn(FIELDS, title) ? FIELDS[title] : undefined

export const byId = (id: string): FilterField | undefined =>
  Object.values(FIELDS).find((known) => known.id === id)

/** Noon on a Thursday in a leap year. */
export const NOW = new Date('2024-02-29T12:00:00Z')
