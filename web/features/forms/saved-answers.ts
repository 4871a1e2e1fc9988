import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { localSettings, readJsonSetting } from '../../session/local-settings.ts'

type Values = Record<string, CellValue>

/** Time after which unsent answers expire. */
const KEPT_MS = 30 * 24 * 3_600_000

const nameOf = (formId: string) => `form.${formId}` as const

interface Kept {
  at: number
  values: Values
}

const isKept = (value: unknown): value is Kept =>
  typeof value === 'object' &&
  value !== null &&
  'at' in value &&
  typeof value.at === 'number' &&
  'values' in value &&
  typeof value.values === 'object'

/** Unsent answers, kept across a reload or a closed tab. Excludes files. */
export const savedAnswers = {
  read(formId: string): Values {
    const { at, values } = readJsonSetting<Kept>(nameOf(formId), { at: 0, values: {} }, isKept)
    return Date.now() - at < KEPT_MS ? values : {}
  },
  write: (formId: string, values: Values): void =>
    localSettings.set(nameOf(formId), JSON.stringify({ at: Date.now(), values } satisfies Kept)),
  clear: (formId: string): void => localSettings.remove(nameOf(formId)),
}
