import type { Field, RecordId } from '../../../src/core/model.ts'
import type { AuthService } from '../../auth/index.ts'
import type { TableModel } from '../../schema/index.ts'
import type { Opened } from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import { createPresenterFor, defaultFields, type Row } from './present.ts'

/** A record as the v2 API presents it, by field title. */
export type RestRow = Row

/** Records as the v2 API presents them, for other modules. */
export function createRestRows(
  records: Pick<RecordsService, 'titledMap' | 'attachments'>,
  auth: Pick<AuthService, 'people'>,
) {
  const presenterFor = createPresenterFor(records, auth)

  /** Presents titled rows of the fields in place. */
  const present = async ({ context }: Opened, fields: Field[], rows: RestRow[]): Promise<void> =>
    presenterFor(fields, context)?.(rows)

  return {
    /** The fields of a record in answers to reads. */
    fieldsOf: (model: TableModel): Field[] => defaultFields(model),
    present,
    /** Records of an opened table by id; missing ones are omitted. */
    async byIds(opened: Opened, recordIds: readonly RecordId[]): Promise<Map<RecordId, RestRow>> {
      const fields = defaultFields(opened.model)
      const rows = await records.titledMap(opened, recordIds, fields)
      await present(opened, fields, [...rows.values()])
      return rows
    },
  }
}
