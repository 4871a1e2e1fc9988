import type { Field } from '../../../src/core/model.ts'
import type { AuthService } from '../../auth/index.ts'
import { withFiles } from '../attachments/index.ts'
import type { RecordsService } from '../service.ts'
import { presenterOf } from './present.ts'
import { type PresentContext, withComputed } from './present-computed.ts'
import { peopleFor } from './present-user.ts'
import type { Presenter } from './presenter.ts'

/** Gives the presenter for rows of these fields; null where the database's rows need no change. */
export type PresenterFor = (fields: Field[], context: PresentContext) => Presenter | null

/** Presents values, people, computed fields and links to files. */
export function createPresenterFor(
  { attachments }: Pick<RecordsService, 'attachments'>,
  auth: Pick<AuthService, 'people'>,
): PresenterFor {
  return (fields, context) =>
    withFiles(
      fields,
      withComputed(fields, presenterOf(fields, peopleFor(auth.people, context)), context),
      attachments,
      context,
    )
}
