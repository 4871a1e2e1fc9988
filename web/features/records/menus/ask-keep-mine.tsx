import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { cellText } from '../../../cells/cell-text.ts'
import { t } from '../../../i18n.ts'
import { Button } from '../../../ui/button.tsx'
import { openDialog } from '../../../ui/open-dialog.tsx'
import { Dialog } from '../../../ui/overlays.ts'
import { fieldOf, type TableContext } from '../context/table-context.ts'

/** Someone wrote the same cell meanwhile: true keeps what this person typed. */
export function askKeepMine(
  context: TableContext,
  { fieldId, mine, theirs }: { fieldId: string; mine: CellValue; theirs: CellValue },
): Promise<boolean> {
  const field = fieldOf(context, fieldId)
  const text = (value: CellValue): string => {
    const shown = field ? cellText(field, value) : ''
    return shown === '' ? t('(empty)') : shown
  }
  return new Promise((resolve) => {
    openDialog((close) => {
      const answer = (keep: boolean) => {
        close()
        resolve(keep)
      }
      return (
        <Dialog
          title={t('{field} was changed by someone else', { field: field?.title ?? '' })}
          size="confirm"
          // Leaving without an answer must not lose what was typed.
          closable={false}
          onClose={() => answer(true)}
          footer={
            <>
              <Button onClick={() => answer(false)}>{t('Keep theirs')}</Button>
              <Button variant="primary" data-autofocus onClick={() => answer(true)}>
                {t('Keep mine')}
              </Button>
            </>
          }
        >
          <p dir="auto">{t('Yours: {value}', { value: text(mine) })}</p>
          <p dir="auto">{t('Theirs: {value}', { value: text(theirs) })}</p>
        </Dialog>
      )
    })
  })
}
