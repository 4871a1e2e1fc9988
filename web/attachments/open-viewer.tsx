import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { openDialog } from '../ui/open-dialog.tsx'

const Viewer = lazyPart(() => import('./viewer.tsx'), 'Viewer')

/** Opens the full-page viewer for the files of a cell at one of them. */
export function openViewer(tableId: string, items: readonly AttachmentItem[], start = 0): void {
  if (items.length > 0)
    openDialog((close) => <Viewer tableId={tableId} items={items} start={start} onClose={close} />)
}
