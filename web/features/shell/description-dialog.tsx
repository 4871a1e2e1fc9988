import { useState } from 'react'
import type { Table } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
import { cache, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'

/** What a table is for, in the words of the people who use it. */
export function DescriptionDialog({ table, onClose }: { table: Table; onClose: () => void }) {
  const [description, setDescription] = useState(table.description ?? '')
  const update = trpc.schema.updateTable.useMutation({
    onSuccess() {
      void cache.schema.tables.invalidate({ baseId: table.baseId })
      void cache.schema.table.invalidate({ tableId: table.id })
      onClose()
    },
  })
  return (
    <Dialog
      title={t('Description of "{title}"', { title: table.title })}
      onClose={onClose}
      onSubmit={() => update.mutate({ tableId: table.id, description: description.trim() || null })}
      footer={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button type="submit" variant="primary" busy={update.isPending}>
            {t('Save')}
          </Button>
        </>
      }
    >
      <TextArea
        label={t('What is this table for?')}
        data-autofocus
        rows={4}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
        error={update.error && messageOf(update.error)}
      />
    </Dialog>
  )
}
