import { type DragEvent, useState } from 'react'
import { type ImportPlace, openImport } from '../imports/open-import.ts'

/** Props that let files be dropped on an element to import them; disabled if `target` is null. */
export function useFileDrop(target: ImportPlace | null) {
  const [isOver, setIsOver] = useState(false)
  const hasFile = (event: DragEvent) => target !== null && event.dataTransfer.types.includes('Files')
  return {
    isOver,
    dropProps: {
      onDragOver(event: DragEvent) {
        if (!hasFile(event)) return
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
        if (!target || files.length === 0) return
        event.preventDefault()
        event.stopPropagation()
        openImport(files, target)
      },
    },
  }
}
