import { z } from 'zod'

const id = z.string().min(1).max(64)

export const exportInput = z.strictObject({
  baseId: id,
  withAttachments: z.boolean().default(true),
  withComments: z.boolean().default(true),
  withHistory: z.boolean().default(false),
})

export const importInput = z.strictObject({ uploadId: id, withHistory: z.boolean().default(true) })

/** The body of the REST call that exports. */
export const ExportBody = z.object({
  attachments: z.boolean().default(true),
  comments: z.boolean().default(true),
  history: z.boolean().default(false),
})

/** The parameters of the REST call that imports. */
export const ImportQuery = z.object({
  name: z.string().max(1000).default('base.sheaf'),
  history: z.enum(['true', 'false']).default('true'),
})
