import { useState } from 'react'
import type { Table } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import { renameTable } from './table-commands.tsx'

/** Renames a table where there is no place to edit its name in line. */
export const renameTableInDialog = (table: Table): void =>
  void openDialog((close) => <RenameDialog table={table} onClose={close} />)

function RenameDialog({ table, onClose }: { table: Table; onClose: () => void }) {
  const [title, setTitle] = useState(table.title)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const isEmpty = title.trim() === ''

  async function submit() {
    if (isEmpty || isBusy) return
    setIsBusy(true)
    try {
      await renameTable(table, title.trim())
      onClose()
    } catch (error) {
      setProblem(messageOf(error))
      setIsBusy(false)
    }
  }

  return (
    <Dialog
      title={t('Rename table')}
      size="confirm"
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button type="submit" variant="primary" busy={isBusy} disabled={isEmpty}>
            {t('Rename')}
          </Button>
        </>
      }
    >
      <TextField
        label={t('Name')}
        data-autofocus
        data-select-all
        maxLength={255}
        value={title}
        onChange={(event) => {
          setTitle(event.target.value)
          setProblem(null)
        }}
        error={isEmpty ? t('A table needs a name') : problem}
      />
    </Dialog>
  )
}
