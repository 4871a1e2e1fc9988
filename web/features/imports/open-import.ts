import { createElement, type DragEvent, useState } from 'react'
import { lazyDialog } from '../../ui/lazy-dialog.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import type { ImportStart } from './import-dialog.tsx'

const ImportDialog = lazyDialog(() => import('./import-dialog.tsx'), 'ImportDialog')

/** Initial target of an import: a new table of the base, or the table `tableId`. */
export interface ImportPlace {
  baseId: string
  tableId?: string
}

/** Opens the import dialog for files, pasted text or a URL; with a source of null, the user chooses. */
export function openImport(source: ImportStart, place: ImportPlace): void {
  openDialog((close) => createElement(ImportDialog, { start: source, ...place, onClose: close }))
}

/** Props that let files be dropped on an element to import them; disabled if `target` is null. */
export function useFileDrop(target: ImportPlace | null) {
  const [isOver, setIsOver] = useState(false)
  // React passes on events of popovers that a component inside has opened elsewhere in the document.
  const isInside = (event: DragEvent) =>
    event.target instanceof Node && event.currentTarget.contains(event.target)
  const hasFile = (event: DragEvent) =>
    target !== null && isInside(event) && event.dataTransfer.types.includes('Files')
  return {
    isOver,
    dropProps: {
      onDragOver(event: DragEvent) {
        if (!hasFile(event)) return
        // An element inside takes them, such as an attachment cell.
        if (event.defaultPrevented) return setIsOver(false)
        event.preventDefault()
        event.dataTransfer.dropEffect = 'copy'
        setIsOver(true)
      },
      onDragLeave(event: DragEvent) {
        const goesInside =
          event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)
        if (!goesInside) setIsOver(false)
      },
      onDrop(event: DragEvent) {
        setIsOver(false)
        const files = [...event.dataTransfer.files]
        if (!target || files.length === 0 || event.defaultPrevented || !isInside(event)) return
        event.preventDefault()
        event.stopPropagation()
        openImport(files, target)
      },
    },
  }
}
