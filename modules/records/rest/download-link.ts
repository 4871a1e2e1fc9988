import type { Actor } from '../../../src/core/actor.ts'
import { AppError, notFound } from '../../../src/core/errors.ts'
import { readAttachments } from '../../../src/core/fields/attachment-item.ts'
import { holdsFiles } from '../../../src/core/fields/traits.ts'
import type { RecordsService } from '../service.ts'
import { parseRecordId } from '../table/index.ts'

/**
 * A link to one file of a cell, for someone who may read the cell: `{path}` of a stored file, `{url}` of another.
 *
 * @param place the file's path or address as it stands in the cell
 * @throws FIELD_NOT_FOUND, RECORD_NOT_FOUND; GENERIC_NOT_FOUND for a file that the cell has not
 */
export async function downloadLink(
  records: RecordsService,
  actor: Actor,
  { tableId, fieldId, recordId }: { tableId: string; fieldId: string; recordId: string },
  place: string,
): Promise<Record<string, string>> {
  const { model } = await records.open(actor, tableId)
  const field = model.field(fieldId)
  if (!field || !holdsFiles(field)) throw notFound('Field', fieldId)
  const { values } = await records.get(actor, tableId, parseRecordId(model, recordId))
  const item = readAttachments(values[field.id] ?? null).find(({ path, url }) => place === (path ?? url))
  if (!item) throw new AppError('GENERIC_NOT_FOUND', `Attachment '${place.slice(0, 200)}' not found`)
  return item.path === undefined
    ? { url: item.url ?? '' }
    : { path: await records.attachments.signedPath(actor, item.path) }
}
