import type { ShareActor } from '../../../src/core/actor.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field } from '../../../src/core/model.ts'
import type { AttachmentsService } from './service.ts'

type Row = Record<string, unknown>
type Presenter = (rows: Row[]) => Promise<void>

/**
 * A presenter of rows that also gives their files links; the one that was there where no field has files.
 *
 * @param visitor whose links these are, where somebody came by a public link
 */
export function withFiles(
  fields: Field[],
  present: Presenter | null,
  { cellPresenter }: Pick<AttachmentsService, 'cellPresenter'>,
  { visitor }: { visitor?: ShareActor },
): Presenter | null {
  const found = fields.flatMap((field) => {
    const { type, isList } = shownType(field)
    return type.holdsFiles ? [{ title: field.title, isList }] : []
  })
  if (found.length === 0) return present
  return async (rows) => {
    await present?.(rows)
    const presentCell = await cellPresenter(visitor)
    for (const row of rows) {
      for (const { title, isList } of found) row[title] = presentCell(row[title] as CellValue, isList)
    }
  }
}
