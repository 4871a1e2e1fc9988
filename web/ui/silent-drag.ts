/**
 * Accessibility settings for dnd-kit where drags with a pointer are not announced: it would announce its own ids in
 * English. The keys that do the same have announcements of their own.
 */
export const SILENT_DRAG = {
  announcements: {
    onDragStart: () => undefined,
    onDragOver: () => undefined,
    onDragEnd: () => undefined,
    onDragCancel: () => undefined,
  },
  screenReaderInstructions: { draggable: '' },
}
