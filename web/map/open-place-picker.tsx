import { lazyPart } from '../navigation/lazy-screen.ts'
import { openDialog } from '../ui/open-dialog.tsx'

const PlacePicker = lazyPart(() => import('./place-picker.tsx'), 'PlacePicker')

/**
 * Asks for a place on the map, over the page.
 *
 * @param value what is there already, as a field of places keeps it; null: nothing
 */
export function openPlacePicker(title: string, value: string | null, onPick: (value: string) => void): void {
  openDialog((close) => <PlacePicker title={title} value={value} onPick={onPick} onClose={close} />)
}
