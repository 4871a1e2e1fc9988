import { z } from 'zod'
import { importChoices } from '../../src/core/base-imports.ts'
import { plainText } from '../../src/input.ts'
import { member, router } from '../../src/trpc.ts'
import type { BaseImportsService } from './service.ts'
import { sourceInput } from './sources/index.ts'

const id = z.string().min(1).max(64)
const importRef = z.strictObject({ importId: id })
/** Checked by the source. */
const credentials = z.record(z.string().max(64), z.unknown()).optional()

const connectInput = z.strictObject({ from: sourceInput, baseId: id.optional() })
const describeInput = connectInput.extend({ sourceBaseId: plainText(500) })
const beginInput = describeInput.extend({
  title: plainText(255).pipe(z.string().trim().min(1)),
  choices: importChoices,
  keepCredentials: z.boolean().default(false),
})

/** `trpc.baseImports.*`: imports of whole bases. Calls that carry credentials are mutations. */
export const baseImportsRouter = (imports: BaseImportsService) =>
  router({
    inspect: member
      .input(connectInput)
      .mutation(({ ctx, input: { from, ...rest } }) => imports.inspect(ctx.actor, { ...from, ...rest })),
    describe: member
      .input(describeInput)
      .mutation(({ ctx, input: { from, ...rest } }) => imports.describe(ctx.actor, { ...from, ...rest })),
    begin: member
      .input(beginInput)
      .mutation(({ ctx, input: { from, ...rest } }) => imports.begin(ctx.actor, { ...from, ...rest })),
    get: member.input(importRef).query(({ ctx, input }) => imports.get(ctx.actor, input.importId)),
    list: member
      .input(z.strictObject({ baseId: id.optional() }))
      .query(({ ctx, input }) => imports.list(ctx.actor, input.baseId)),
    report: member.input(importRef).query(({ ctx, input }) => imports.report(ctx.actor, input.importId)),
    pause: member.input(importRef).mutation(({ ctx, input }) => imports.pause(ctx.actor, input.importId)),
    resume: member
      .input(importRef.extend({ credentials }))
      .mutation(({ ctx, input }) => imports.resume(ctx.actor, input.importId, input.credentials)),
    again: member
      .input(
        importRef.extend({
          credentials,
          removeMissing: z.boolean().optional(),
          compareComments: z.boolean().optional(),
        }),
      )
      .mutation(({ ctx, input: { importId, ...rest } }) => imports.again(ctx.actor, importId, rest)),
    cancel: member
      .input(importRef.extend({ removes: z.boolean() }))
      .mutation(({ ctx, input }) => imports.cancel(ctx.actor, input.importId, input.removes)),
    forgetCredentials: member
      .input(importRef)
      .mutation(({ ctx, input }) => imports.forgetCredentials(ctx.actor, input.importId)),
  })
