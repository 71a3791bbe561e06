import { useState } from "react";

type Props = { shape: Shape; onPick?: (shape: Shape) => void };

export function Card({ shape, onPick }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <Panel title={shape.name} onClick={() => onPick?.(shape)}>
      <Area value={shape.area()} />
    </Panel>
  );
}

export default class List extends Component<Props> {
  state = { open: false };
  render() {
    return <Card shape={this.props.shape} />;
  }
}
