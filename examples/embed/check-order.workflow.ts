import { Arg, call, done, Step, Workflow } from 'stepwright';
import { Quote } from './quote.tool.js';

@Workflow({
  name: 'check-order',
  description: 'check that an order can be filled',
  expose: ['prompt', 'tool'],
})
export class CheckOrder {
  @Arg({ description: 'Name of the product' }) product!: Arg<string>;

  @Step() quote = call(Quote, { product: this.product, count: 1 });

  output = done({ left: this.quote.left });
}
