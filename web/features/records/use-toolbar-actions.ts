import { ArrowDownUp, Columns3, Layers, ListFilter, Palette } from 'lucide-react'
import type { Action } from '../../actions/action.ts'
import { useScreenActions } from '../../actions/index.ts'
import { t } from '../../i18n.ts'
import { fileItems } from '../views/view-files.ts'
import type { TableContext } from './table-context.ts'
import type { ToolbarControl } from './toolbar.tsx'

/** What the palette calls the controls that open a panel. */
const CONTROLS: Partial<Record<ToolbarControl, Pick<Action, 'label' | 'icon'>>> = {
  fields: { label: () => t('Show or hide fields'), icon: Columns3 },
  filter: { label: () => t('Filter…'), icon: ListFilter },
  group: { label: () => t('Group by…'), icon: Layers },
  sort: { label: () => t('Sort by…'), icon: ArrowDownUp },
  color: { label: () => t('Colour by…'), icon: Palette },
}

/** Offers in the palette what the toolbar of a view offers: its controls, upload and download. */
export function useToolbarActions(
  { schema, state, role }: Pick<TableContext, 'schema' | 'state' | 'role'>,
  controls: readonly ToolbarControl[],
  open: (control: ToolbarControl) => void,
): void {
  const group = () => t('View')
  const panels = controls.flatMap((control): Action[] => {
    const named = CONTROLS[control]
    return named ? [{ id: `view.${control}`, group, ...named, run: () => open(control) }] : []
  })
  const files = fileItems({ schema, view: state.view, role }).flatMap((item): Action[] =>
    item.kind === 'action'
      ? [{ id: `view.file.${item.label}`, group, label: () => item.label, icon: item.icon, run: item.run }]
      : [],
  )
  useScreenActions([...panels, ...files])
}
