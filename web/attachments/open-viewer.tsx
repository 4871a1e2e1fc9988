import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { lazyDialog } from '../ui/lazy-dialog.ts'
import { openDialog } from '../ui/open-dialog.tsx'

const Viewer = lazyDialog(() => import('./viewer.tsx'), 'Viewer')

/** Opens the full-page viewer for the files of a cell at one of them. */
export function openViewer(tableId: string, items: readonly AttachmentItem[], start = 0): void {
  if (items.length > 0)
    openDialog((close) => <Viewer tableId={tableId} items={items} start={start} onClose={close} />)
}
