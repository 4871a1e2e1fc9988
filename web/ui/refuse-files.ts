/** Refuses files dragged over what does not take them: the browser would open them in place of the page. */
export function refuseFiles(): void {
  document.addEventListener('dragover', refuse)
  document.addEventListener('drop', refuse)
}

function refuse(event: DragEvent): void {
  const { dataTransfer, target } = event
  if (event.defaultPrevented || !dataTransfer?.types.includes('Files')) return
  // The browser puts them into the input.
  if (target instanceof HTMLInputElement && target.type === 'file') return
  event.preventDefault()
  dataTransfer.dropEffect = 'none'
}
