import { type DragEvent, useState } from 'react'
import { type ImportTarget, startImport } from './pick-import.ts'

/** Lets a file be dropped on an element to import it; null target: the person may not. */
export function useFileDrop(target: ImportTarget | null) {
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
        const goesInside = event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)
        if (!goesInside) setIsOver(false)
      },
      onDrop(event: DragEvent) {
        setIsOver(false)
        const file = event.dataTransfer.files[0]
        if (!target || !file) return
        event.preventDefault()
        event.stopPropagation()
        void startImport(file, target)
      },
    },
  }
}
