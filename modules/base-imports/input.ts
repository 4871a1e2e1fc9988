import { z } from 'zod'
import { importChoices } from '../../src/core/base-imports.ts'
import { plainText } from '../../src/input.ts'
import { sourceInput } from './sources/index.ts'

const id = z.string().min(1).max(64)

export const importRef = z.strictObject({ importId: id })

/** Imports into a base; absent: all. */
export const listInput = z.strictObject({ baseId: id.optional() })

export const connectInput = z.strictObject({ from: sourceInput, baseId: id.optional() })

export const describeInput = connectInput.extend({ sourceBaseId: plainText(500) })

export const beginInput = describeInput.extend({
  title: plainText(255).pipe(z.string().trim().min(1)),
  choices: importChoices,
  keepCredentials: z.boolean().default(false),
  /** Pauses before the first run, with the people of the source listed. */
  matchFirst: z.boolean().default(false),
})

/** Credentials are checked by the source. */
export const resumeInput = z.strictObject({
  credentials: z.record(z.string().max(64), z.unknown()).optional(),
})

export const againInput = resumeInput.extend({
  removeMissing: z.boolean().optional(),
  compareComments: z.boolean().optional(),
  names: z.boolean().optional(),
})

/** Without `memberId`, the person is matched by the e-mail address; null: with nobody. */
export const matchInput = z.strictObject({ key: plainText(500), memberId: id.nullable().optional() })
