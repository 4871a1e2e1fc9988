import { z } from 'zod'
import { checkboxWord } from './checkbox-words.ts'
import { describeValue } from './describe-value.ts'
import { defineFieldType, readFail, readOk } from './field-type.ts'
import { cssColor } from './rating.ts'

/** Pairs of signs that a checkbox can be drawn with. */
export const CHECKBOX_ICONS = ['square', 'circle', 'star', 'heart', 'thumb', 'flag'] as const

const FROM_PROGRAMS = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  [1, true],
  [0, false],
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
])

/** Checked or not. */
export const checkbox = defineFieldType({
  name: 'Checkbox',
  label: 'Checkbox',
  group: 'choice',
  help: 'A yes/no value',
  example: '☑',
  storage: 'boolean',
  options: z.object({ icon: z.enum(CHECKBOX_ICONS).default('square'), color: cssColor('#36bfa6') }),
  filters: 'checkbox',
  summaries: 'checkbox',
  initial: false, // spec §5
  read(input) {
    const value = FROM_PROGRAMS.get(input)
    return value === undefined
      ? readFail(`Expected true or false, got ${describeValue(input)}`)
      : readOk(value)
  },
  parse: checkboxWord,
  format: (value) => (value === null ? '' : String(value === true || value === 1)),
  databaseTypes: { sqlite3: 'boolean', pg: 'bool' },
})
