import { Tooltip, useTooltipStore } from '@ariakit/react'
import { useLayoutEffect } from 'react'
import { createPortal } from 'react-dom'
import { direction } from '../i18n.ts'
import { POPOVER_GAP_PX } from './popover.tsx'
import styles from './tooltip.module.css'

interface TipProps {
  /** An element with `data-tip`. */
  target: HTMLElement
}

/** The tooltip of an element, centred below it, or beside it with `data-tip-side="side"`. */
export function Tip({ target }: TipProps) {
  const { tip, tipKeys, tipSide } = target.dataset
  const side = direction() === 'rtl' ? 'left' : 'right'
  const store = useTooltipStore({
    open: true,
    type: 'description',
    placement: tipSide === 'side' ? side : 'bottom',
  })
  useLayoutEffect(() => store.setAnchorElement(target), [store, target])
  return createPortal(
    <Tooltip
      store={store}
      portal={false}
      fixed
      gutter={POPOVER_GAP_PX}
      overflowPadding={POPOVER_GAP_PX}
      className={styles.tip}
      wrapperProps={NO_POINTER}
      // `TooltipHost` hides tooltips.
      hideOnEscape={false}
      hideOnHoverOutside={false}
      hideOnInteractOutside={false}
    >
      <span dir="auto">{tip}</span>
      {tipKeys && <kbd>{tipKeys}</kbd>}
    </Tooltip>,
    document.body,
  )
}

const NO_POINTER = { style: { pointerEvents: 'none' } } as const
