import { z } from 'zod'
import { PLUGIN_CATEGORIES } from '../../src/core/plugins/index.ts'

const MAX_INPUT_LENGTH = 512 * 1024

const id = z.string().min(1).max(64)

/** A configuration as sent: checked by the definition of its plugin (`read-config.ts`). */
const config = z.json().refine((value) => JSON.stringify(value).length <= MAX_INPUT_LENGTH)

export const PluginRef = z.strictObject({ id })
export const SaveInput = PluginRef.extend({ config })
export const DeactivateInput = PluginRef.extend({ keepConfig: z.boolean() })
export const TestInput = SaveInput.extend({
  /** A telephone number. */
  to: z.string().max(40).optional(),
})
export const EnvironmentTestInput = z.strictObject({ category: z.enum(PLUGIN_CATEGORIES) })
export const ChannelsInput = z.strictObject({ baseId: id })
