"""Writes the programs of this folder with official paddle: run it there, then rename net -> official_net, cf -> official_control_flow."""
import paddle, json, numpy as np
from paddle.static import InputSpec
paddle.seed(1)
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.l1=paddle.nn.Linear(4,8); self.bn=paddle.nn.BatchNorm1D(8); self.l2=paddle.nn.Linear(8,3)
    def forward(self,x):
        y=self.l2(paddle.nn.functional.relu(self.bn(self.l1(x))))
        b=x.shape[0]
        y=paddle.reshape(y,[b,-1])
        a,c,d=paddle.split(y,3,axis=1)
        return paddle.nn.functional.softmax(paddle.concat([a,c,d],1)), y.sum()
n=Net(); n.eval()
paddle.jit.save(paddle.jit.to_static(n,input_spec=[InputSpec([None,4],'float32','x')],full_graph=True),'net')
class CF(paddle.nn.Layer):
    def __init__(self):
        super().__init__(); self.l=paddle.nn.Linear(4,4)
    def forward(self,x):
        y=self.l(x)
        if y.sum()>0:
            y=y*2
        else:
            y=y-1
        i=paddle.full([1],0,'int64')
        while i<3:
            y=y+1
            i=i+1
        return y
n=CF(); n.eval()
paddle.jit.save(paddle.jit.to_static(n,input_spec=[InputSpec([None,4],'float32','x')],full_graph=True),'cf')
