import type { UserActor } from '../../../src/core/actor.ts'
import type { JobKind } from '../../../src/jobs.ts'
import type { FieldPlace, SchemaService } from '../../schema/index.ts'

/** The job's name for REST clients. */
export const FIELD_COPY_JOB = 'duplicate-column'

/** What the job is told. */
export interface FieldCopyInput {
  owner: UserActor
  fieldId: string
  newFieldId: string
  withData: boolean
  place: FieldPlace
}

/** Copies a field within its table. It is one transaction: what is cut off has left nothing. */
export function createFieldCopyJob(
  schema: Pick<SchemaService, 'duplicateField' | 'hasField'>,
): JobKind<FieldCopyInput> {
  return {
    async run({ owner, ...copy }, { signal, report }) {
      const { id } = await schema.duplicateField(owner, copy, {
        signal,
        progress: (done, total) => report({ done, total, unit: 'rows' }),
      })
      return { id }
    },
    recover: async ({ newFieldId }) =>
      (await schema.hasField(newFieldId)) ? { result: { id: newFieldId } } : null,
  }
}
