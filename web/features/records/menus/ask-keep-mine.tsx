import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { cellText } from '../../../cells/index.ts'
import { m } from '../../../messages.gen.ts'
import { Button } from '../../../ui/button.tsx'
import { openDialog } from '../../../ui/open-dialog.tsx'
import { Dialog } from '../../../ui/overlays.ts'
import { fieldOf, type TableContext } from '../context/table-context.ts'

/** Resolves an edit conflict with another user; true keeps the local input. */
export function askKeepMine(
  context: TableContext,
  { fieldId, mine, theirs }: { fieldId: string; mine: CellValue; theirs: CellValue },
): Promise<boolean> {
  const field = fieldOf(context, fieldId)
  const text = (value: CellValue): string => {
    const shown = field ? cellText(field, value) : ''
    return shown === '' ? m.common_empty() : shown
  }
  return new Promise((resolve) => {
    openDialog((close) => {
      const answer = (keep: boolean) => {
        close()
        resolve(keep)
      }
      return (
        <Dialog
          title={m.records_field_changed_someone_else({ field: field?.title ?? '' })}
          size="confirm"
          // Closing without an answer must not lose the input.
          closable={false}
          onClose={() => answer(true)}
          footer={
            <>
              <Button onClick={() => answer(false)}>{m.records_keep_theirs()}</Button>
              <Button variant="primary" data-autofocus onClick={() => answer(true)}>
                {m.records_keep_mine()}
              </Button>
            </>
          }
        >
          <p dir="auto">{m.records_yours_value({ value: text(mine) })}</p>
          <p dir="auto">{m.records_theirs_value({ value: text(theirs) })}</p>
        </Dialog>
      )
    })
  })
}
