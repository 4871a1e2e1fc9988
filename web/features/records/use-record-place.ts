import { useState } from 'react'
import { localSettings } from '../../session/local-settings.ts'
import { useIsNarrow } from '../shell/sidebar-state.ts'

/** Where an open record is shown; this browser remembers it. */
export interface RecordPlace {
  /** True: in a window over the page; false: beside the other records. */
  isWindow: boolean
  /** Moves it to the other place. Null where the screen has room for one of them alone. */
  toggle: (() => void) | null
}

const SETTING = 'record.place'

/** On a narrow screen a record covers it, as ever. */
export function useRecordPlace(): RecordPlace {
  const isNarrow = useIsNarrow()
  const [isChosen, setChosen] = useState(() => localSettings.get(SETTING) === 'window')
  if (isNarrow) return { isWindow: false, toggle: null }
  return {
    isWindow: isChosen,
    toggle() {
      localSettings.set(SETTING, isChosen ? 'side' : 'window')
      setChosen(!isChosen)
    },
  }
}
