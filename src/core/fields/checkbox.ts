import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, describeValue, readFail, readOk } from './field-type.ts'
import { cssColor } from './rating.ts'

interface Vocabulary {
  yes: readonly string[]
  no: readonly string[]
  /** True for a language other than English. */
  isForeign?: true
}

/**
 * Pairs of words for "checked" and "unchecked" (spec §5, import type detection), lower case. A side without
 * words is represented by an empty cell.
 */
export const CHECKBOX_VOCABULARIES: readonly Vocabulary[] = [
  { yes: ['true'], no: ['false'] },
  { yes: ['yes'], no: ['no'] },
  { yes: ['y', 'j'], no: ['n'] },
  { yes: ['t'], no: ['f'] },
  { yes: ['1'], no: ['0'] },
  { yes: ['on'], no: ['off'] },
  { yes: ['checked'], no: ['unchecked'] },
  { yes: ['enabled'], no: ['disabled'] },
  { yes: ['[x]'], no: ['[ ]', '[]'] },
  { yes: ['x'], no: [] },
  { yes: ['done'], no: [] },
  // Yes and no, true and false of other languages, as their spreadsheets write them.
  { isForeign: true, yes: ['ja', 'wahr'], no: ['nein', 'falsch'] },
  { isForeign: true, yes: ['oui', 'vrai'], no: ['non', 'faux'] },
  { isForeign: true, yes: ['sí', 'si', 'verdadero'], no: ['no', 'falso'] },
  { isForeign: true, yes: ['sì', 'si', 'vero'], no: ['no', 'falso'] },
  { isForeign: true, yes: ['sim', 'verdadeiro'], no: ['não', 'nao', 'falso'] },
  { isForeign: true, yes: ['ja', 'waar'], no: ['nee', 'onwaar'] },
  { isForeign: true, yes: ['ja', 'sand', 'sant'], no: ['nej', 'nei', 'falsk'] },
  { isForeign: true, yes: ['tak', 'prawda'], no: ['nie', 'fałsz'] },
  { isForeign: true, yes: ['ano', 'áno', 'pravda'], no: ['ne', 'nie', 'nepravda'] },
  { isForeign: true, yes: ['igen', 'igaz'], no: ['nem', 'hamis'] },
  { isForeign: true, yes: ['kyllä', 'tosi'], no: ['ei', 'epätosi'] },
  { isForeign: true, yes: ['evet', 'doğru'], no: ['hayır', 'hayir', 'yanlış'] },
  { isForeign: true, yes: ['да', 'истина'], no: ['нет', 'ложь'] },
  { isForeign: true, yes: ['так'], no: ['ні'] },
  { isForeign: true, yes: ['はい'], no: ['いいえ'] },
  { isForeign: true, yes: ['是'], no: ['否'] },
  { isForeign: true, yes: ['예'], no: ['아니요', '아니오'] },
  { isForeign: true, yes: ['نعم'], no: ['لا'] },
  { isForeign: true, yes: ['כן'], no: ['לא'] },
  { isForeign: true, yes: ['हाँ', 'हां'], no: ['नहीं'] },
  { isForeign: true, yes: ['○'], no: ['×'] },
  { yes: ['✓', '✔', '✔️', '☑', '☑️', '✅'], no: ['✗', '✘', '☐', '❌'] },
]

const MEANING = new Map(
  CHECKBOX_VOCABULARIES.flatMap(({ yes, no }) => [
    ...yes.map((word): [string, boolean] => [word, true]),
    ...no.map((word): [string, boolean] => [word, false]),
  ]),
)

/** The meaning of a word in any vocabulary; null if unknown. */
export const readCheckboxWord = (text: string): boolean | null =>
  MEANING.get(text.trim().toLowerCase()) ?? null

/** Icons for checkboxes, each with a checked and an unchecked form. */
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
  label: m.field_type_checkbox,
  group: 'choice',
  help: m.field_type_checkbox_help,
  example: '☑',
  storage: 'boolean',
  options: z.object({ icon: z._default(z.enum(CHECKBOX_ICONS), 'square'), color: cssColor('#36bfa6') }),
  filters: 'checkbox',
  summaries: 'checkbox',
  initial: false, // spec §5
  read(input) {
    const value = FROM_PROGRAMS.get(input)
    return value === undefined
      ? readFail(m.value_error_boolean({ value: describeValue(input) }))
      : readOk(value)
  },
  parse: readCheckboxWord,
  format: (value) => (value === null ? '' : String(value === true || value === 1)),
  databaseTypes: { sqlite3: 'boolean', pg: 'bool' },
})
